import type { DatabaseHandle, WriteTarget } from '../channel/database-handle'
import type { Pending } from '../channel/pending'
import { TransactionError } from '../core/errors'
import { Failure } from '../core/failure'
import { bodyBegan, bodyEnded, innermost, type Joinable, runInside } from '../core/transaction-context'
import { outcomeOf, RunningCall, Session } from '../statements/session'
import { startCommit } from '../statements/tracing'
import { Op } from '../wire/protocol'

/** One transaction (level 0), or one nested transaction, which is a savepoint (level 1 and up). */
export class TransactionScope extends Session implements Joinable {
  readonly level: number
  /** The number of named savepoints that are open in this transaction. */
  savepoints = 0
  #bodyRuns = false
  /** The number of nested transactions that run, or wait for those before them. */
  #nested = 0
  #lastNested: Promise<void> = Promise.resolve()
  /** The nested transaction that runs. */
  #child: TransactionScope | undefined

  /** `id` is the id of the session, which all levels share. */
  constructor(
    owner: DatabaseHandle,
    id: number,
    readonly parent: TransactionScope | undefined,
  ) {
    super('transaction', owner, id)
    this.level = parent === undefined ? 0 : parent.level + parent.savepoints + 1
  }

  get engine(): number {
    return this.owner.engine
  }

  get isJoined(): boolean {
    return this.isOpen || (this.#bodyRuns && this.interrupted !== undefined)
  }

  /** True if calls have not settled. */
  get isBusy(): boolean {
    return this.running.size > 0
  }

  /** Runs a nested transaction after those before it have ended. */
  nest<T>(run: (scope: TransactionScope) => Promise<T>, called: DatabaseHandle): Promise<T> {
    const call = new RunningCall()
    return call.of(this.#runNested(call, run, called))
  }

  /**
   * Runs the body in the context of this transaction, waits for the calls that it did not await, and commits or rolls back.
   * This method is not async, because each await would be one more frame in the stack traces of errors.
   */
  conduct<T>(body: () => T | PromiseLike<T>): Promise<T> {
    return this.settle(() => outcomeOf(() => this.#runBody(body)))
  }

  /** Stops accepting calls, waits for the calls that were not awaited, and commits or rolls back. */
  finish(): Promise<void> {
    return this.settle(() => outcomeOf(() => this.#finishRunning()))
  }

  /**
   * Runs the body, and waits for the calls that it did not await. After an interruption, the body may continue to run for any
   * time.
   */
  async #runBody<T>(body: () => T | PromiseLike<T>): Promise<T> {
    this.#bodyRuns = true
    bodyBegan()
    let value: T
    try {
      value = await runInside(this, body)
    } finally {
      this.#bodyRuns = false
      bodyEnded()
    }
    await this.#finishRunning()
    return value
  }

  /** Waits for the calls that the body did not await. The first failure among them fails the transaction. */
  async #finishRunning(): Promise<void> {
    if (this.isOpen) this.state = 'finishing'
    while (this.running.size > 0) {
      const outcomes = await Promise.allSettled(Array.from(this.running, ({ promise }) => promise))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    }
  }

  /** Commits, or releases the savepoint; rolls back if that fails. It cannot be interrupted meanwhile. */
  override async commit(): Promise<void> {
    this.end()
    const request =
      this.level === 0 ? startCommit(this, () => this.request(Op.COMMIT)) : this.request(Op.RELEASE)
    const committed = await request.promise
    if (committed instanceof Failure) {
      await this.undo().promise
      throw committed.toError()
    }
  }

  protected override abandonRunning(failure: Failure): void {
    this.#child?.interrupt(failure, true)
    super.abandonRunning(failure)
  }

  override rollback(): Pending {
    return this.level === 0 ? super.rollback() : this.request(Op.ROLLBACK_TO)
  }

  /** Sends a request about the savepoint of a level, or about the whole transaction (level 0). */
  request(op: number, level = this.level): Pending {
    const fill = level === 0 ? undefined : (writer: { u32(level: number): void }) => writer.u32(level)
    return this.channel.request(op, this.flags, this.id, fill)
  }

  override usable(operation: string, called: DatabaseHandle): WriteTarget {
    const target = super.usable(operation, called)
    if (this.#nested === 0) return target
    const message = `${operation}: a nested transaction is open; use its handle, or await it first`
    throw new TransactionError(message, operation)
  }

  async #runNested<T>(
    call: RunningCall,
    run: (scope: TransactionScope) => Promise<T>,
    called: DatabaseHandle,
  ): Promise<T> {
    if (called !== this.owner) called.usable()
    this.checkOpen('transaction')
    this.refuseInsideNested('transaction')
    const before = this.#lastNested
    let release!: () => void
    this.#lastNested = new Promise((resolve) => {
      release = resolve
    })
    this.#nested++
    this.running.add(call)
    try {
      if (this.#nested > 1) await before
      if (this.state === 'ended') this.checkOpen('transaction')
      const scope = new TransactionScope(called, this.id, this)
      this.#child = scope
      return await run(scope)
    } finally {
      this.#child = undefined
      this.#nested--
      this.running.delete(call)
      release()
    }
  }

  /**
   * Throws if the caller runs in a transaction nested in this one, because a call here would wait for its end: a deadlock.
   */
  refuseInsideNested(operation: string): void {
    let inner = innermost(this.engine) as TransactionScope | undefined
    if (inner === this) return
    while (inner !== undefined && inner !== this) inner = inner.parent
    if (inner === this) {
      const message = `${operation}: called on the handle of a surrounding transaction; use the innermost handle`
      throw new TransactionError(message, operation)
    }
  }
}
