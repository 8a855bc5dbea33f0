import { availableParallelism } from 'node:os'
import { KNOWN_TEXTS, MAX_POLL_BACKOFF, POLL_TURNS } from '../core/limits'
import { ReplyKind } from '../wire/protocol'
import type { PlannedTurn } from './event-loop'
import { Answer, type OpenRequest, type StreamRequest } from './pending'

/** The kinds of requests below this number are operations; the others are statements. */
const OPERATIONS = 64

/** The kind of a request that runs a statement, by the id of its SQL text. */
export function kindOfText(id: number): number {
  return OPERATIONS + id
}

/**
 * Decides when the event loop polls for replies instead of sleeping until a native thread wakes it.
 *
 * To sleep and be woken costs more time, on both threads, than a quick query takes. While something is likely to arrive at
 * once, the event loop therefore plans one turn after another, up to `POLL_TURNS` of them, and looks for replies in each. It
 * does so for two things, each with its own back-off:
 * - the reply to the only outstanding call, or the first result of a live query if that is the only thing awaited;
 * - the emissions that follow a write, while a live query is open.
 *
 * `flush` and `drain` tell the native side whether this realm polls; if it does, no native thread wakes it. From then on
 * a turn must be planned at all times until `drain` has returned false, or a wake-up would be lost: `#announced` remembers
 * this, because polling may end before the native side knows.
 */
export class ReplyPoller {
  readonly #nextTurn: PlannedTurn
  /** With a single core there is no point in polling: the thread that makes the reply needs the core. */
  readonly #isEnabled: boolean
  readonly #reply = new PollBackoff(OPERATIONS + KNOWN_TEXTS)
  readonly #emission = new PollBackoff(1)
  /** Calls without their last reply, and live queries without their first frame. */
  #outstanding = 0
  #liveQueries = 0
  /** The kind of the only outstanding request until it is flushed, else -1. */
  #onlyKind = -1
  /** The native side believes that this realm polls. */
  #announced = false

  /** `nextTurn` must call {@link ReplyPoller.turn}. */
  constructor(nextTurn: PlannedTurn, cores: number = availableParallelism()) {
    this.#nextTurn = nextTurn
    this.#isEnabled = cores > 1
  }

  /** Notes that a request was made. `kind` is its operation, or the kind of its text. */
  request(request: OpenRequest, kind: number): void {
    if (request.answer === Answer.STREAM) this.#liveQueries++
    if (++this.#outstanding > 1) this.#reply.stop()
    else this.#onlyKind = kind
  }

  /** Notes that a reply frame has arrived. `kind` is the kind of the frame; `last`: no frame follows for this request. */
  reply(request: OpenRequest, kind: number, last: boolean): void {
    if (request.answer === Answer.STREAM) this.#streamReply(request as StreamRequest, kind, last)
    else if (last) this.#completed(kind)
  }

  /** The number of calls that wait for their last reply, and of live queries that wait for their first frame. */
  get outstanding(): number {
    return this.#outstanding
  }

  /** Notes that requests are handed over. Returns whether this realm polls. */
  flush(): boolean {
    if (this.#outstanding === 1 && this.#onlyKind !== -1) this.#reply.begin(this.#onlyKind)
    this.#onlyKind = -1
    const polls = this.#poll()
    this.#announced ||= polls
    return polls
  }

  /** Notes that replies are fetched. Returns whether this realm goes on polling. */
  drain(): boolean {
    this.#announced = this.#poll()
    return this.#announced
  }

  /** Notes that a planned turn has begun. Returns whether the turn is for polling. */
  turn(): boolean {
    const polls = this.#announced
    this.#reply.turn()
    this.#emission.turn()
    return polls
  }

  /** Forgets all back-offs for replies, because the ids of SQL texts get new meanings. */
  forgetTexts(): void {
    this.#reply.reset()
  }

  #streamReply(request: StreamRequest, kind: number, last: boolean): void {
    if (last) this.#liveQueries--
    if (kind === ReplyKind.EMIT) this.#emission.arrived()
    if (request.hasReceivedFrame) return
    request.hasReceivedFrame = true
    this.#completed(kind)
  }

  #completed(kind: number): void {
    if (--this.#outstanding > 0) return
    this.#reply.arrived()
    if (this.#liveQueries > 0 && kind === ReplyKind.WRITTEN) this.#emission.begin(0)
  }

  /**
   * Plans the next turn if there is something to poll for. The native side may rely on planned turns only once a turn has
   * run.
   */
  #poll(): boolean {
    const polls = this.#isEnabled && (this.#reply.isPolling || this.#emission.isPolling)
    if (polls) this.#nextTurn.plan()
    return polls && this.#nextTurn.hasRun
  }
}

/**
 * Counts the turns that are spent on polling, and backs off where polling was fruitless. After `POLL_TURNS` fruitless
 * turns the next attempt of the same kind is skipped, then the next 3, 7 and so on up to `MAX_POLL_BACKOFF`. An arrival
 * while polling halves the next back-off.
 */
export class PollBackoff {
  #turnsLeft = 0
  /** The kind that is polled for, or that was polled for last. */
  #kind = 0
  /** By kind: the length of the last back-off, and the number of attempts that are still to be skipped. */
  readonly #length: Uint8Array
  readonly #skips: Uint8Array

  constructor(kinds: number) {
    this.#length = new Uint8Array(kinds)
    this.#skips = new Uint8Array(kinds)
  }

  get isPolling(): boolean {
    return this.#turnsLeft > 0
  }

  /** Begins an attempt, or skips it. */
  begin(kind: number): void {
    this.#kind = kind
    const skips = this.#skips[kind] as number
    if (skips > 0) this.#skips[kind] = skips - 1
    else this.#turnsLeft = POLL_TURNS
  }

  /** Notes that a turn of the event loop has begun. The last of the turns makes the attempt fruitless. */
  turn(): void {
    if (this.#turnsLeft === 0 || --this.#turnsLeft > 0) return
    const length = Math.min(2 * (this.#length[this.#kind] as number) + 1, MAX_POLL_BACKOFF)
    this.#length[this.#kind] = length
    this.#skips[this.#kind] = length
  }

  /** Ends polling, because the reply or the emission has arrived. */
  arrived(): void {
    if (this.#turnsLeft > 0) this.#length[this.#kind] = (this.#length[this.#kind] as number) >> 1
    this.#turnsLeft = 0
  }

  /** Ends the attempt; it counts neither as fruitless nor as successful. */
  stop(): void {
    this.#turnsLeft = 0
  }

  /** Forgets all back-offs. */
  reset(): void {
    this.#length.fill(0)
    this.#skips.fill(0)
  }
}
