import type { Handle, Session } from './channel/database-handle'
import type { Pending } from './channel/pending'
import { Failure, TransactionError } from './core/errors'
import { bodyBegins, bodyEnded, innermost, type Joinable, runInside } from './core/transaction-context'
import { type Target, unwrap } from './requests'
import { Flag, Op } from './wire/protocol'

/** A call on a transaction that has not settled yet. */
export interface Work {
  promise: Promise<unknown>
  request: Pending | undefined
}

/** How a body ended: with a value or with an error. */
export type BodyOutcome<T> = { readonly value: T } | { readonly error: unknown }

/**
 * The state of one transaction (level 0) or nested transaction (a savepoint, level 1 and up).
 *
 * - open: the body runs; statements are taken.
 * - finishing: the body has returned; what it did not await is waited for; nothing new is taken.
 * - ended: committed, rolled back or interrupted.
 */
export class Scope implements Joinable, Target, Session {
  readonly channel
  readonly flags: number
  readonly level: number
  /** Resolves when the transaction is interrupted from outside: by a signal, a timeout, or `close`. */
  readonly interruption: Promise<Failure>
  #interrupted: Failure | undefined
  #resolveInterruption!: (failure: Failure) => void
  #undone: Promise<unknown> = Promise.resolve()
  #state: 'open' | 'finishing' | 'ended' = 'open'
  #bodyRuns = false
  readonly #running = new Set<Work>()
  /** Nested transactions that run or wait for their turn. */
  #nested = 0
  #lastNested: Promise<void> = Promise.resolve()
  #child: Scope | undefined
  #begin: Pending | undefined

  constructor(
    /** The database whose options hold for the handle that the body gets. */
    readonly owner: Handle,
    /** The session, which all levels share. */
    readonly id: number,
    readonly parent: Scope | undefined,
  ) {
    this.channel = owner.channel
    this.flags = owner.flags | Flag.SESSION
    this.level = parent === undefined ? 0 : parent.level + 1
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

  /** Why it was interrupted, if it was. */
  get interrupted(): Failure | undefined {
    return this.#interrupted
  }

  /** Runs one statement of the transaction, with the options of the database that was called. */
  statement<T>(
    operation: string,
    sql: string,
    start: (target: Target) => Pending,
    called = this.owner,
  ): Promise<T> {
    return this.#track((work) => this.#runStatement<T>(work, operation, sql, start, called))
  }

  /** Runs something of the transaction that makes its own requests, and tells about them. */
  task<T>(
    operation: string,
    run: (target: Target, onStart: (request: Pending) => void) => Promise<T>,
    called = this.owner,
  ): Promise<T> {
    return this.#track((work) => this.#runTask(work, operation, run, called))
  }

  /** Runs a nested transaction when those before it have ended. */
  nest<T>(run: (scope: Scope) => Promise<T>, called = this.owner): Promise<T> {
    return this.#track((work) => this.#takeTurn(work, run, called))
  }

  /** Runs the body in the context of this transaction and waits for what it left running. Never rejects. */
  async perform<T>(body: () => T | PromiseLike<T>): Promise<BodyOutcome<T>> {
    try {
      const value = await this.#runBody(body)
      if (this.#state === 'open') this.#state = 'finishing'
      await this.#finishRunning()
      return { value }
    } catch (error) {
      return { error }
    }
  }

  /** The body may run on long after an interruption. */
  async #runBody<T>(body: () => T | PromiseLike<T>): Promise<T> {
    this.#bodyRuns = true
    bodyBegins()
    try {
      return await runInside(this, body)
    } finally {
      this.#bodyRuns = false
      bodyEnded()
    }
  }

  /** Commits (or, nested, releases the savepoint). From now on it cannot be interrupted. */
  commit(): Pending {
    this.#end()
    return this.level === 0 ? this.#request(Op.COMMIT) : this.#request(Op.RELEASE)
  }

  /** Undoes everything that the transaction did. */
  undo(): Pending {
    this.#end()
    this.#abandonRunning(
      new Failure(() => new TransactionError('The surrounding transaction was rolled back', 'transaction')),
    )
    return this.level === 0 ? this.#request(Op.END) : this.#request(Op.ROLLBACK_TO)
  }

  /** The request for the write lock: as long as it is open, an interruption only takes it back. */
  beginsWith(request: Pending): void {
    this.#begin = request
  }

  /** Waits until an interruption has undone everything. */
  async undone(): Promise<void> {
    await this.#undone
  }

  /** Ends the transaction from outside. `sessionOver`: there is nothing left to roll back. */
  interrupt(failure: Failure, sessionOver = false): void {
    if (this.#state === 'ended') return
    this.#end()
    this.#interrupted = failure
    this.#abandonRunning(failure)
    if (this.#begin !== undefined && !this.#begin.settled) this.channel.cancel(this.#begin, failure)
    else if (!sessionOver) this.#undone = this.#request(this.level === 0 ? Op.END : Op.ROLLBACK_TO).promise
    this.#resolveInterruption(failure)
  }

  #end(): void {
    this.#state = 'ended'
  }

  /** Cancels what still runs. Whoever ends the transaction reports the failure, so nobody has to catch these. */
  #abandonRunning(failure: Failure): void {
    this.#child?.interrupt(failure, true)
    for (const work of this.#running) {
      work.promise.catch(() => {})
      if (work.request !== undefined) this.channel.cancel(work.request, failure)
    }
  }

  #request(op: number): Pending {
    const { level } = this
    return this.channel.request(
      op,
      Flag.SESSION,
      this.id,
      level === 0 ? undefined : (writer) => writer.u32(level),
    )
  }

  #usable(operation: string, called: Handle): Target {
    this.#checkOpen(operation)
    if (this.#nested > 0) {
      const message = `${operation}: a nested transaction is open; use its handle, or await it first`
      throw new TransactionError(message, operation)
    }
    if (called === this.owner) return this
    return { channel: this.channel, id: this.id, flags: called.flags | Flag.SESSION }
  }

  #checkOpen(operation: string): void {
    if (this.#state === 'open') return
    const cause = this.#interrupted?.toError()
    throw new TransactionError(`${operation}: the transaction has ended`, operation, undefined, { cause })
  }

  async #runStatement<T>(
    work: Work,
    operation: string,
    sql: string,
    start: (target: Target) => Pending,
    called: Handle,
  ): Promise<T> {
    const request = start(this.#usable(operation, called))
    work.request = request
    this.#running.add(work)
    try {
      return unwrap<T>(await request.promise, sql)
    } finally {
      this.#running.delete(work)
    }
  }

  async #runTask<T>(
    work: Work,
    operation: string,
    run: (target: Target, onStart: (request: Pending) => void) => Promise<T>,
    called: Handle,
  ): Promise<T> {
    const target = this.#usable(operation, called)
    this.#running.add(work)
    try {
      return await run(target, (request) => {
        work.request = request
      })
    } finally {
      this.#running.delete(work)
    }
  }

  /** Nothing is awaited here: every await on the way would be one more frame between an error and its caller. */
  #track<T>(run: (work: Work) => Promise<T>): Promise<T> {
    const work: Work = { promise: settled, request: undefined }
    const promise = run(work)
    work.promise = promise
    return promise
  }

  /** Waits for statements that the body did not await. The first failure among them fails the transaction. */
  async #finishRunning(): Promise<void> {
    while (this.#running.size > 0) {
      const outcomes = await Promise.allSettled(Array.from(this.#running, (work) => work.promise))
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
    }
  }

  async #takeTurn<T>(work: Work, run: (scope: Scope) => Promise<T>, called: Handle): Promise<T> {
    this.#checkOpen('transaction')
    this.#refuseInsideNested()
    const before = this.#lastNested
    let release!: () => void
    this.#lastNested = new Promise((resolve) => {
      release = resolve
    })
    this.#nested++
    this.#running.add(work)
    try {
      if (this.#nested > 1) await before
      if (this.#state === 'ended') this.#checkOpen('transaction')
      const scope = new Scope(called, this.id, this)
      this.#child = scope
      return await run(scope)
    } finally {
      this.#child = undefined
      this.#nested--
      this.#running.delete(work)
      release()
    }
  }

  /** Waiting for one's own end would never end. */
  #refuseInsideNested(): void {
    let inner = innermost(this.engine) as Scope | undefined
    if (inner === this) return
    while (inner !== undefined && inner !== this) inner = inner.parent
    if (inner === this) {
      const message =
        'transaction: called on the handle of a surrounding transaction; use the innermost handle'
      throw new TransactionError(message, 'transaction')
    }
  }
}

const settled = Promise.resolve()
