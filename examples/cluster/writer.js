import { setTimeout as pause } from 'node:timers/promises'
import { castAny, castForLast } from './ballots.js'

/** Number of writes of a node that are under way at a time. */
const LANES = 4
/** One write in so many is a transaction that reads before it writes. */
const TRANSACTION_EVERY = 25

/** Nothing of a write with one of these codes is there. */
const notDone = new Set(['RESQLITE_NO_QUORUM', 'RESQLITE_OVERTAKEN'])
/** After an error, in milliseconds. */
const PAUSE = 50

/** Writes without a pause until it is stopped, and tells what became of each ballot. */
export class Writer {
  #db
  #name
  #tell
  #isStopped = false
  #lanes

  /** `name` begins the names of its ballots; `tell(ballot, outcome)`: 'done', 'not done' or 'unknown'. */
  constructor(db, name, tell) {
    this.#db = db
    this.#name = name
    this.#tell = tell
    this.#lanes = Promise.all(Array.from({ length: LANES }, (_, lane) => this.#run(lane)))
  }

  /** Resolves when the writes that were under way have ended. */
  async stop() {
    this.#isStopped = true
    await this.#lanes
  }

  async #run(lane) {
    for (let n = 0; !this.#isStopped; n++) {
      const ballot = `${this.#name}/${lane}/${n}`
      this.#tell(ballot, await this.#cast(n, ballot))
    }
  }

  async #cast(n, ballot) {
    const cast = n % TRANSACTION_EVERY === TRANSACTION_EVERY - 1 ? castForLast : castAny
    try {
      await cast(this.#db, ballot)
      return 'done'
    } catch (error) {
      await pause(PAUSE)
      if (error.code === 'RESQLITE_ANSWER_LOST') return 'done'
      return notDone.has(error.code) ? 'not done' : 'unknown'
    }
  }
}
