import type { Channel } from '../channel/channel'
import type { StreamRequest } from '../channel/pending'

/**
 * Asks the native side when a live query has caught up with what is committed: one request at a time for all that wait, however
 * many come and go meanwhile.
 */
export class CatchUps {
  readonly #channel: Channel
  readonly #query: StreamRequest
  readonly #ended: (number: number) => void
  /** The number of the last request. */
  #number = 0
  /** The {@link Channel.flushes} when it was made. */
  #flushes = -1
  #isWaiting = false
  /** Somebody came when it was under way already. */
  #isWantedAgain = false

  /** `ended` gets the number of each request that has ended. */
  constructor(channel: Channel, query: StreamRequest, ended: (number: number) => void) {
    this.#channel = channel
    this.#query = query
    this.#ended = ended
  }

  /** Returns the number of the request with whose end the query shows all that is committed now. */
  next(): number {
    if (!this.#isWaiting) {
      void this.#ask()
      return this.#number
    }
    if (this.#flushes === this.#channel.flushes) return this.#number // not handed over yet
    this.#isWantedAgain = true
    return this.#number + 1
  }

  async #ask(): Promise<void> {
    const number = ++this.#number
    this.#isWaiting = true
    this.#flushes = this.#channel.flushes
    await this.#channel.caughtUp(this.#query)
    this.#isWaiting = false
    if (this.#isWantedAgain) {
      this.#isWantedAgain = false
      void this.#ask()
    }
    this.#ended(number)
  }
}
