import { availableParallelism } from 'node:os'
import { KNOWN_TEXTS } from '../core/limits'
import type { LiveRequest } from '../live/live-request'
import { Reply } from '../wire/protocol'
import { Outside } from './event-loop'
import { Answer, type Replied } from './pending'
import { Lookout } from './poll-backoff'

/** Operations, as kinds of calls; statements are kinds of their own, counted from here. */
const OPERATIONS = 32

/** The kind of a call that runs a statement, by the number of its text. */
export function kindOfText(id: number): number {
  return OPERATIONS + id
}

/**
 * Keeps the event loop awake for a few turns, in which it looks for replies, where what it would sleep for is likely to
 * come at once: the answer to the only call that is awaited, and what a write brings to a live query.
 *
 * The native side is told, as it need not wake this realm then. From that on until it is told otherwise a turn is
 * planned, whatever happens.
 */
export class Awake {
  readonly #turn: () => void
  readonly #everLooks: boolean
  readonly #answer = new Lookout(OPERATIONS + KNOWN_TEXTS)
  readonly #news = new Lookout()
  /** Calls that are not answered yet, and live queries that have not given their first result. */
  #calls = 0
  #streams = 0
  /** The kind of the only call, until it goes out; else -1. */
  #only = -1
  #told = false
  #planned = false
  /** Replies are left over for the next turn. */
  #goesOn = false
  /** A turn was planned and came, which the timers of a test that were there before this module never do. */
  #turnsCome = false
  readonly #outside = new Outside()
  readonly #look = () => this.#lookAgain()

  /**
   * `turn` handles what replies there are; it asks `drains`. With a single core there is nothing to look for: whoever
   * answers needs it.
   */
  constructor(turn: () => void, cores: number = availableParallelism()) {
    this.#turn = turn
    this.#everLooks = cores > 1
  }

  /** A request is made; `kind`: its operation, or that of its text. */
  awaits(request: Replied, kind: number): void {
    if (request.answer === Answer.STREAM) this.#streams++
    if (++this.#calls > 1) this.#answer.stop()
    else this.#only = kind
  }

  /** The last frame of a call has come. */
  answered(kind: number): void {
    if (--this.#calls > 0) return
    this.#answer.came()
    if (this.#streams > 0 && kind === Reply.WRITTEN) this.#news.begin()
  }

  /** A frame of a live query has come: its first is what was awaited. */
  hears(stream: LiveRequest, kind: number, last: boolean): void {
    if (last) this.#streams--
    if (kind === Reply.EMIT) this.#news.came()
    if (stream.heard) return
    stream.heard = true
    this.answered(kind)
  }

  /** Texts get new numbers. */
  forgetsTexts(): void {
    this.#answer.forget()
  }

  /** Requests go out; whether nobody need wake this realm. */
  submits(): boolean {
    if (this.#calls === 1 && this.#only !== -1) this.#answer.begin(this.#only)
    this.#only = -1
    const stays = this.#stays()
    this.#told ||= stays
    return stays
  }

  /** Replies are asked for; whether nobody need wake this realm for further ones. */
  drains(): boolean {
    this.#told = this.#stays()
    return this.#told
  }

  /** The next turn of the event loop handles the replies that are left. */
  goesOn(): void {
    this.#goesOn = true
    this.#plan()
  }

  /** If the event loop stays awake, its next turn looks for replies. */
  #stays(): boolean {
    const stays = this.#everLooks && (this.#answer.looks || this.#news.looks)
    if (stays) this.#plan()
    return stays && this.#turnsCome
  }

  #plan(): void {
    if (this.#planned) return
    this.#planned = true
    // Subscribers may be told in it.
    this.#outside.nextTurn(this.#look)
  }

  #lookAgain(): void {
    const looks = this.#told || this.#goesOn
    this.#turnsCome = true
    this.#planned = false
    this.#goesOn = false
    this.#answer.turn()
    this.#news.turn()
    if (looks) this.#turn()
  }
}
