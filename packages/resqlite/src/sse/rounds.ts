import { TURN_MILLISECONDS } from '../core/limits'
import { CLIENTS_PER_TURN } from './limits'

/** Visits all members in rounds, a few in each turn of the event loop. Members may come and go meanwhile. */
export class Rounds<T> {
  readonly #members: Set<T>
  readonly #visit: (member: T) => void
  /** The round that has begun. */
  #round: Iterator<T> | undefined
  #isDue = false

  constructor(members: Set<T>, visit: (member: T) => void) {
    this.#members = members
    this.#visit = visit
  }

  /** Begins another round: now, or after the one that has begun. */
  start(): void {
    this.#isDue = true
    if (this.#round === undefined) this.#turn()
  }

  #turn(): void {
    const end = performance.now() + TURN_MILLISECONDS
    let visits = 0
    for (let member = this.#next(); member !== undefined; member = this.#next()) {
      this.#visit(member)
      if (++visits < CLIENTS_PER_TURN && performance.now() <= end) continue
      setImmediate(() => this.#turn())
      return
    }
  }

  #next(): T | undefined {
    for (;;) {
      const { value, done } = this.#round?.next() ?? { value: undefined, done: true }
      if (!done) return value
      this.#round = undefined
      if (!this.#isDue) return undefined
      this.#isDue = false
      this.#round = this.#members.values()
    }
  }
}
