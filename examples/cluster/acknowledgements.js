/** The number of acknowledged writes, and the longest time without one. */
export class Acknowledgements {
  count = 0
  #now
  #last
  #longest = 0

  /** `now`: a clock, in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now
    this.#last = now()
  }

  add() {
    this.count++
    this.#longest = this.longestGap
    this.#last = this.#now()
  }

  /** For how long nothing was acknowledged, in milliseconds. */
  get gap() {
    return this.#now() - this.#last
  }

  /** The longest time without an acknowledgement so far, in milliseconds. */
  get longestGap() {
    return Math.max(this.#longest, this.gap)
  }

  /** Nothing was expected until now. */
  skip() {
    this.#last = this.#now()
  }
}
