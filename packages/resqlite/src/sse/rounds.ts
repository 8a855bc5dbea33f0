import { TURN_MILLISECONDS } from '../core/limits'
import { CLIENTS_PER_TURN, MAX_REST_MILLISECONDS, REST_PER_ROUND } from './limits'

/**
 * Visits all members in rounds, a few in each turn of the event loop, and rests after a round for longer than it took. So
 * the time that members cost is bounded, however often rounds are due. Members may come and go meanwhile.
 */
export class Rounds<T> {
  readonly #members: Set<T>
  readonly #visit: (member: T) => void
  readonly #prepare: () => void
  /** A round or the rest after a round is under way. */
  #isUnderWay = false
  #isDue = false

  /** `prepare` is called before each round. */
  constructor(members: Set<T>, visit: (member: T) => void, prepare: () => void) {
    this.#members = members
    this.#visit = visit
    this.#prepare = prepare
  }

  /** Begins another round, now or after the round that is under way. */
  start(): void {
    this.#isDue = true
    if (!this.#isUnderWay) this.#begin()
  }

  #begin(): void {
    this.#isUnderWay = this.#isDue
    if (!this.#isDue) return
    this.#isDue = false
    const began = performance.now()
    this.#prepare()
    this.#turn(this.#members.values(), began)
  }

  #turn(members: Iterator<T>, began: number): void {
    const end = performance.now() + TURN_MILLISECONDS
    for (let visits = 0; visits < CLIENTS_PER_TURN && (visits === 0 || performance.now() <= end); visits++) {
      const { value, done } = members.next()
      if (done) {
        this.#end(began)
        return
      }
      this.#visit(value)
    }
    setImmediate(() => this.#turn(members, began))
  }

  /**
   * Ends a round in the next turn. Work that the visits have left to Node.js, such as bytes to send, is done before that, so
   * its time counts, too.
   */
  #end(began: number): void {
    setImmediate(() => {
      const rest = Math.min(REST_PER_ROUND * (performance.now() - began), MAX_REST_MILLISECONDS)
      if (rest < 1) this.#begin()
      else setTimeout(() => this.#begin(), rest).unref()
    })
  }
}
