import type { Bytes } from '../core/types'
import type { Sink } from './event-client'
import { PIECE_BYTES } from './limits'
import type { ServerEvent } from './server-event'

/** Sends events in pieces. A client on a slow line takes one piece after another, which shows that it still reads. */
export abstract class PieceSink implements Sink {
  /** The bytes that have not been sent to the client yet. */
  readonly #rest: Bytes[] = []

  abstract beat(): boolean
  abstract end(last: ServerEvent): void
  abstract abandon(last?: ServerEvent): void
  /** Sends bytes. Returns whether the client takes more at once. */
  protected abstract put(bytes: Bytes): boolean

  write({ bytes }: ServerEvent): boolean {
    this.#rest.push(bytes)
    return this.more()
  }

  more(): boolean {
    for (let [bytes] = this.#rest; bytes !== undefined; [bytes] = this.#rest) {
      const isLast = bytes.length <= PIECE_BYTES
      if (isLast) this.#rest.shift()
      else this.#rest[0] = bytes.subarray(PIECE_BYTES)
      if (!this.put(isLast ? bytes : bytes.subarray(0, PIECE_BYTES))) return false
    }
    return true
  }
}
