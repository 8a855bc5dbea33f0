// Keeps a run within its time: on a slow machine, workloads get fewer rounds.
import { performance } from 'node:perf_hooks'

/** Fewer rounds have no spread. */
export const leastRounds = 2
/** Most workloads need less than their share of the time; one that needs more may have this many shares. */
const shares = 1.5

/**
 * Shares out the time of a run among its jobs. What a job leaves goes to those after it.
 *
 * @param {number} jobs how many there are
 * @param {number} time how long all of them may take (ms)
 */
export class Pace {
  #jobs
  #end
  #until = 0
  #now

  constructor(jobs, time, now = () => performance.now()) {
    this.#jobs = jobs
    this.#now = now
    this.#end = now() + time
  }

  /** The next job begins. */
  begin() {
    const left = Math.max(this.#end - this.#now(), 0)
    this.#until = this.#now() + (shares * left) / Math.max(this.#jobs--, 1)
  }

  /** Whether the job may go on after this many rounds. */
  goesOn(rounds) {
    return rounds < leastRounds || this.#now() < this.#until
  }

  /** The rounds for a job that must know them before: all, or the fewest when the time of the run is over. */
  roundsOf(rounds) {
    return this.#now() < this.#end ? rounds : Math.min(rounds, leastRounds)
  }
}
