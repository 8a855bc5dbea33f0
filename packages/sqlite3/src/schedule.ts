import { AsyncResource } from 'node:async_hooks'
import { type Failure, failure } from './errors'
import { report } from './report'

/** A piece of work on a database. */
export interface Job {
  /** Does the work. It reports its errors to the caller, and does not reject. */
  readonly work: () => Promise<void>
  /**
   * Called in place of `work` if the database has been closed, or could not be opened. If it throws, `add` of a closed
   * schedule throws, too.
   */
  readonly refuse: (error: Failure) => void
  /** True if the job waits for all earlier jobs, and later jobs wait for it. */
  readonly alone?: boolean | undefined
}

/** A job with the asynchronous context of the caller, in which it runs and calls back. */
class Call extends AsyncResource {
  readonly alone: boolean

  constructor(
    readonly job: Job,
    serialized: boolean,
  ) {
    super('sqlite3.Call')
    this.alone = serialized || job.alone === true
  }
}

/** Starts jobs in the order in which they were given: side by side, or one by one. */
export class Schedule {
  /** While this is true, each job that is given runs alone. */
  serialized = false
  #isOpen = false
  #isClosed = false
  #waiting: Call[] = []
  #next = 0
  #running = 0
  #alone = false

  get isOpen(): boolean {
    return this.#isOpen
  }

  add(job: Job): void {
    if (this.#isClosed) {
      job.refuse(failure('MISUSE', 'Database is closed'))
      return
    }
    this.#waiting.push(new Call(job, this.serialized))
    this.#proceed()
  }

  /** Starts the jobs that were given until now, after `tell` has reported that the database is open. */
  open(tell: () => void): void {
    this.#isOpen = true
    tell()
    this.#proceed()
  }

  /** Refuses the jobs that wait, after `tell` has reported that the database is closed, and all later jobs. */
  close(tell: () => void): void {
    this.#isOpen = false
    this.#isClosed = true
    tell()
    const refused = this.#waiting.slice(this.#next)
    this.#waiting = []
    this.#next = 0
    const error = failure('MISUSE', 'Database handle is closed')
    for (const call of refused) report(() => call.runInAsyncScope(call.job.refuse, undefined, error))
  }

  #proceed(): void {
    while (this.#isOpen && !(this.#alone && this.#running > 0)) {
      const call = this.#waiting[this.#next]
      if (call === undefined || (call.alone && this.#running > 0)) break
      this.#next++
      this.#start(call)
    }
    if (this.#next === this.#waiting.length) {
      this.#waiting = []
      this.#next = 0
    }
  }

  async #start(call: Call): Promise<void> {
    this.#alone = call.alone
    this.#running++
    await call.runInAsyncScope(call.job.work)
    this.#running--
    this.#proceed()
  }
}
