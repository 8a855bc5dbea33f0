import type { Channel } from '../channel/channel'
import type { StreamRequest } from '../channel/pending'

/**
 * Asks the native side when a live query has caught up with what is committed. There is one request at a time for all callers
 * that wait, however many they are.
 */
export class CatchUps {
  readonly #channel: Channel
  readonly #query: StreamRequest
  /** The request that has not ended. */
  #asked: Promise<void> | undefined
  /** The {@link Channel.flushes} when that request was made. */
  #flushes = -1
  /** The next request, if a caller asked when that request was already under way. */
  #next: Promise<void> | undefined

  constructor(channel: Channel, query: StreamRequest) {
    this.#channel = channel
    this.#query = query
  }

  /** Resolves when the query shows all that is committed now, or has ended. */
  wait(): Promise<void> {
    if (this.#next !== undefined) return this.#next
    if (this.#asked === undefined) return this.#ask()
    if (this.#flushes === this.#channel.flushes) return this.#asked // not handed over yet
    this.#next = this.#asked.then(() => this.#ask())
    return this.#next
  }

  #ask(): Promise<void> {
    this.#next = undefined
    this.#flushes = this.#channel.flushes
    this.#asked = this.#channel.caughtUp(this.#query).then(() => {
      this.#asked = undefined
    })
    return this.#asked
  }
}
