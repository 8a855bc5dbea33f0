import type { Closeable, DatabaseHandle, WriteTarget } from '../channel/database-handle'
import type { Pending } from '../channel/pending'
import { TransactionError } from '../core/errors'
import { Failure, unwrap } from '../core/failure'
import { bodyBegan, bodyEnded, innermost, type Joinable, runInside } from '../core/transaction-context'
import { type CursorPlace, closeCursors, type OpenCursors, SharedSession } from '../statements/cursor-place'
import type { Call } from '../statements/requests'
import { traced } from '../statements/tracing'
import { Op, RequestFlags } from '../wire/protocol'

/** A call in a transaction or snapshot that has not settled. */
export interface RunningCall {
  promise: Promise<unknown>
  request: Pending | undefined
}

/** The value that a body returned, or the error that it threw. */
export type BodyOutcome<T> = { readonly value: T } | { readonly error: unknown }

/**
 * One transaction (level 0), or one nested transaction, which is a savepoint (level 1 and up). Its states are:
 *
 * - open: the body runs, and may run statements;
 * - finishing: the body has returned, and the calls that it did not await are waited for; new calls fail;
 * - ended: committed, rolled back or interrupted.
 */
export class TransactionScope implements Joinable, WriteTarget, Closeable {
  readonly channel
  readonly path: string
  readonly flags: number
  readonly level: number
  /** The number of named savepoints that are open in it. */
  savepoints = 0
  /** Resolves when the transaction is interrupted from outside: by a signal, a timeout, or `close`. */
  readonly interruption: Promise<Failure>
  #interrupted: Failure | undefined
  #resolveInterruption!: (failure: Failure) => void
  /** Resolves when an interruption has undone everything. */
  #undone: Promise<unknown> = Promise.resolve()
  #state: 'open' | 'finishing' | 'ended' = 'open'
  #bodyRuns = false
  readonly #running = new Set<RunningCall>()
  /** Called when everything that runs is interrupted. */
  readonly #interruptions = new Set<(failure: Failure) => void>()
  readonly #cursors: OpenCursors = new Set()
  /** The number of nested transactions that run, or wait for those before them. */
  #nested = 0
  #lastNested: Promise<void> = Promise.resolve()
  /** The nested transaction that runs. */
  #child: TransactionScope | undefined
  /** The request for the write lock. */
  #begin: Pending | undefined

  constructor(
    /** The database that was called; its options hold for the handle that the body gets. */
    readonly owner: DatabaseHandle,
    /** The id of the session, which all levels share. */
    readonly id: number,
    readonly parent: TransactionScope | undefined,
  ) {
    this.channel = owner.channel
    this.path = owner.path
    this.flags = owner.flags | RequestFlags.SESSION
    this.level = parent === undefined ? 0 : parent.level + parent.savepoints + 1
    this.interruption = new Promise((resolve) => {
      this.#resolveInterruption = resolve
    })
  }

  get engine(): number {
    return this.owner.engine
  }

  get isJoined(): boolean {
    return this.#state === 'open' || (this.#bodyRuns && this.#interrupted !== undefined)
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Whether calls have not settled. */
  get isBusy(): boolean {
    return this.#running.size > 0
  }

  /** Why the transaction was interrupted, if it was. */
  get interrupted(): Failure | undefined {
    return this.#interrupted
  }

  onInterrupt(callback: (failure: Failure) => void): () => void {
    this.#interruptions.add(callback)
    return () => this.#interruptions.delete(callback)
  }

  /** Runs one statement in the transaction, with the options of the database that was called. */
  statement<T>(call: Call, sql: string, params: unknown, options: unknown, called = this.owner): Promise<T> {
    return this.#track(async (running) => {
      const request = traced(call).start(this.#usable(call.name, called), sql, params, options)
      running.request = request
      this.#running.add(running)
      try {
        return unwrap<T>(await request.promise, sql)
      } finally {
        this.#running.delete(running)
      }
    })
  }

  /** Runs a call that makes its own requests, and reports each through `onStart`. */
  task<T>(
    operation: string,
    run: (target: WriteTarget, onStart: (request: Pending) => void) => Promise<T>,
    called = this.owner,
  ): Promise<T> {
    return this.#track((call) => this.#runTask(call, operation, run, called))
  }

  /** Where a cursor runs that is opened now. */
  cursorPlace(called = this.owner): CursorPlace {
    return new SharedSession(this.#cursors, () => this.#usable('iterate', called))
  }

  /** Runs a nested transaction after those before it have ended. */
  nest<T>(run: (scope: TransactionScope) => Promise<T>, called = this.owner): Promise<T> {
    return this.#track((call) => this.#runNested(call, run, called))
  }

  /** Runs the body in the context of this transaction, and waits for the calls that it did not await. Never rejects. */
  async perform<T>(body: () => T | PromiseLike<T>): Promise<BodyOutcome<T>> {
    try {
      const value = await this.#runBody(body)
      await this.#finish()
      return { value }
    } catch (error) {
      return { error }
    }
  }

  /** Takes no more calls, and waits for those that were not awaited. Never rejects. */
  async finish(): Promise<BodyOutcome<void>> {
    try {
      await this.#finish()
      return { value: undefined }
    } catch (error) {
      return { error }
    }
  }

  async #finish(): Promise<void> {
    if (this.#state === 'open') this.#state = 'finishing'
    await this.#finishRunning()
  }

  /** After an interruption, the body may continue to run for any time. */
  async #runBody<T>(body: () => T | PromiseLike<T>): Promise<T> {
    this.#bodyRuns = true
    bodyBegan()
    try {
      return await runInside(this, body)
    } finally {
      this.#bodyRuns = false
      bodyEnded()
    }
  }

  /** Commits, or releases the savepoint. From now on the transaction cannot be interrupted. */
  commit(): Pending {
    this.#end()
    closeCursors(this.#cursors, ended)
    return this.level === 0 ? this.#request(Op.COMMIT) : this.#request(Op.RELEASE)
  }

  /** Rolls back to before the transaction. */
  undo(): Pending {
    this.#end()
    closeCursors(this.#cursors, ended)
    this.#abandonRunning(
      new Failure(() => new TransactionError('The surrounding transaction was rolled back', 'transaction')),
    )
    return this.level === 0 ? this.#request(Op.END) : this.#request(Op.ROLLBACK_TO)
  }

  /** Sets the request for the write lock. While it is open, an interruption only cancels it. */
  beganWith(request: Pending): void {
    this.#begin = request
  }

  /** Waits until an interruption has rolled everything back. */
  async undone(): Promise<void> {
    await this.#undone
  }

  /** Ends the transaction from outside. `sessionEnded`: the native side has rolled it back already. */
  interrupt(failure: Failure, sessionEnded = false): void {
    if (this.#state === 'ended') return
    this.#end()
    this.#interrupted = failure
    closeCursors(this.#cursors, failure)
    this.#abandonRunning(failure)
    if (this.#begin !== undefined && !this.#begin.settled) this.channel.cancel(this.#begin, failure)
    else if (!sessionEnded) this.#undone = this.#request(this.level === 0 ? Op.END : Op.ROLLBACK_TO).promise
    this.#resolveInterruption(failure)
  }

  #end(): void {
    this.#state = 'ended'
  }

  /** Cancels the running calls. The transaction itself reports the failure, so their rejections count as handled. */
  #abandonRunning(failure: Failure): void {
    this.#child?.interrupt(failure, true)
    for (const interrupt of [...this.#interruptions]) interrupt(failure)
    for (const { promise, request } of this.#running) {
      promise.catch(() => {})
      if (request !== undefined) this.channel.cancel(request, failure)
    }
  }

  #request(op: number): Pending {
    const { level } = this
    return this.channel.request(
      op,
      RequestFlags.SESSION,
      this.id,
      level === 0 ? undefined : (writer) => writer.u32(level),
    )
  }

  #usable(operation: string, called: DatabaseHandle): WriteTarget {
    this.checkOpen(operation)
    if (this.#nested > 0) {
      const message = `${operation}: a nested transaction is open; use its handle, or await it first`
      throw new TransactionError(message, operation)
    }
    if (called === this.owner) return this
    const { channel, id } = this
    const onInterrupt = this.onInterrupt.bind(this)
    return { channel, path: called.path, id, flags: called.flags | RequestFlags.SESSION, onInterrupt }
  }

  /** Throws if it takes no calls any more. */
  checkOpen(operation: string): void {
    if (this.#state === 'open') return
    const cause = this.#interrupted?.toError()
    const why = cause === undefined ? '' : ` (${cause.message})`
    throw new TransactionError(`${operation}: the transaction has ended${why}`, operation, undefined, {
      cause,
    })
  }

  async #runTask<T>(
    call: RunningCall,
    operation: string,
    run: (target: WriteTarget, onStart: (request: Pending) => void) => Promise<T>,
    called: DatabaseHandle,
  ): Promise<T> {
    const target = this.#usable(operation, called)
    this.#running.add(call)
    try {
      return await run(target, (request) => {
        call.request = request
      })
    } finally {
      this.#running.delete(call)
    }
  }

  /** Awaits nothing: every await on the way would be one more stack frame between an error and its caller. */
  #track<T>(run: (call: RunningCall) => Promise<T>): Promise<T> {
    const call: RunningCall = { promise: resolved, request: undefined }
    const promise = run(call)
    call.promise = promise
    return promise
  }

  /** Waits for the calls that the body did not await. The first failure among them fails the transaction. */
  async #finishRunning(): Promise<void> {
    while (this.#running.size > 0) {
      const outcomes = await Promise.allSettled(Array.from(this.#running, ({ promise }) => promise))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    }
  }

  async #runNested<T>(
    call: RunningCall,
    run: (scope: TransactionScope) => Promise<T>,
    called: DatabaseHandle,
  ): Promise<T> {
    this.checkOpen('transaction')
    this.refuseInsideNested('transaction')
    const before = this.#lastNested
    let release!: () => void
    this.#lastNested = new Promise((resolve) => {
      release = resolve
    })
    this.#nested++
    this.#running.add(call)
    try {
      if (this.#nested > 1) await before
      if (this.#state === 'ended') this.checkOpen('transaction')
      const scope = new TransactionScope(called, this.id, this)
      this.#child = scope
      return await run(scope)
    } finally {
      this.#child = undefined
      this.#nested--
      this.#running.delete(call)
      release()
    }
  }

  /** Throws if a nested transaction would wait for the end of the one that its caller runs in: a deadlock. */
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

const resolved = Promise.resolve()

const ended = new Failure(() => new TransactionError('iterate: the transaction has ended', 'iterate'))
