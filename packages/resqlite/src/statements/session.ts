import type { Channel } from '../channel/channel'
import type { Closeable, DatabaseHandle, WriteTarget } from '../channel/database-handle'
import type { Pending } from '../channel/pending'
import { onAbort } from '../core/abort'
import { ResqliteError, TransactionError } from '../core/errors'
import { abortFailure, Failure, unwrap } from '../core/failure'
import type { SelectOptions, SnapshotOptions } from '../core/types'
import type { FrameWriter } from '../wire/frame-writer'
import { Op, RequestFlags } from '../wire/protocol'
import { type Call, start } from './requests'

/** A call in a session that has not settled. */
export class RunningCall {
  promise: Promise<unknown> = Promise.resolve()
  request: Pending | undefined

  /**
   * Keeps and returns the promise. Awaits nothing, because every await on the way would be one more stack frame between an
   * error and its caller.
   */
  of<T>(promise: Promise<T>): Promise<T> {
    this.promise = promise
    return promise
  }
}

/** The value that a body returned, or the error that it threw. */
type Outcome<T> = { readonly value: T } | { readonly error: unknown }

/**
 * The session of a snapshot or of a transaction. It knows the calls that run in it, and whether it accepts calls. The class
 * for transactions adds what only a transaction has. The states of a session are:
 *
 * - open: it accepts calls;
 * - finishing: the body of a transaction has returned, and the calls that it did not await are waited for;
 * - ended: committed, undone or interrupted.
 */
export class Session implements WriteTarget, Closeable {
  readonly channel: Channel
  readonly path: string
  readonly flags: number
  /** Resolves when the session is interrupted from outside: by a signal, a timeout, or `close`. */
  readonly interruption: Promise<Failure>
  #resolveInterruption!: (failure: Failure) => void
  #interrupted: Failure | undefined
  /** Resolves when an interruption has undone everything. */
  #undone: Promise<unknown> = Promise.resolve()
  /** The request that begins the session. While the request is open, an interruption only cancels it. */
  #begin: Pending | undefined
  protected state: 'open' | 'finishing' | 'ended' = 'open'
  protected readonly running = new Set<RunningCall>()
  /** Called when everything that runs is interrupted. */
  readonly #interruptions = new Set<(failure: Failure) => void>()
  readonly #cursors = new Set<Closeable>()

  constructor(
    readonly kind: 'transaction' | 'snapshot',
    /** The database that was called; its options apply to the object that the body gets. */
    readonly owner: DatabaseHandle,
    readonly id: number,
  ) {
    this.channel = owner.channel
    this.path = owner.path
    this.flags = owner.flags | RequestFlags.SESSION
    this.interruption = new Promise((resolve) => {
      this.#resolveInterruption = resolve
    })
  }

  get isOpen(): boolean {
    return this.state === 'open'
  }

  /** The failure that interrupted the session, if it was interrupted. */
  get interrupted(): Failure | undefined {
    return this.#interrupted
  }

  /** Begins the session on the native side. */
  async begin(op: number, fill: (writer: FrameWriter) => void): Promise<void> {
    this.#begin = this.channel.request(op, this.owner.flags, this.owner.id, fill)
    unwrap(await this.#begin.promise)
    if (this.#interrupted !== undefined) {
      await this.undo().promise // the interruption came too late to cancel the request
      throw this.#interrupted.toError()
    }
  }

  /** Lets the signal and the timeout interrupt the session from now on. Returns a function that stops this. */
  watch({ signal, timeout }: SnapshotOptions = {}): () => void {
    const unwatch = signal && onAbort(signal, () => this.interrupt(abortFailure(signal.reason)))
    const timer = timeout === undefined ? undefined : this.startTimer(timeout)
    return () => {
      unwatch?.()
      clearTimeout(timer)
    }
  }

  startTimer(timeout: number): NodeJS.Timeout {
    const message = `The ${this.kind} took longer than ${timeout} ms`
    const failure = new Failure(() => new ResqliteError(message, 'RESQLITE_TIMEOUT'))
    return setTimeout(() => this.interrupt(failure), timeout)
  }

  /** Runs the work unless the session was interrupted before. Then commits or undoes the session. */
  async settle<T>(work: () => Promise<Outcome<T>>): Promise<T> {
    // `any` instead of `race`: neither side rejects, and only `any` keeps the caller in the stack traces of errors.
    const outcome = this.#interrupted ?? (await Promise.any([work(), this.interruption]))
    if (outcome instanceof Failure) {
      await this.undone()
      throw outcome.toError()
    }
    if ('error' in outcome) {
      await this.undo().promise
      throw outcome.error
    }
    await this.commit()
    return outcome.value
  }

  /** Runs one statement, with the options of the database that was called. */
  statement<T>(
    call: Call,
    sql: string,
    params: unknown,
    options: SelectOptions | undefined,
    called: DatabaseHandle,
  ): Promise<T> {
    const running = new RunningCall()
    const send = (target: WriteTarget) => {
      running.request = start(call, target, sql, params, options)
      return running.request.promise
    }
    return running.of(this.#run(running, call.name, called, send, sql))
  }

  /** Runs a call that makes its own requests, and reports each through `onStart`. */
  task<T>(
    operation: string,
    run: (target: WriteTarget, onStart: (request: Pending) => void) => Promise<T>,
    called: DatabaseHandle,
  ): Promise<T> {
    const running = new RunningCall()
    const onStart = (request: Pending) => {
      running.request = request
    }
    return running.of(this.#run(running, operation, called, (target) => run(target, onStart)))
  }

  async #run<T>(
    running: RunningCall,
    operation: string,
    called: DatabaseHandle,
    send: (target: WriteTarget) => Promise<unknown>,
    sql?: string,
  ): Promise<T> {
    const target = this.usable(operation, called)
    this.running.add(running)
    try {
      return unwrap<T>(await send(target), sql)
    } finally {
      this.running.delete(running)
    }
  }

  onInterrupt(callback: (failure: Failure) => void): () => void {
    this.#interruptions.add(callback)
    return () => this.#interruptions.delete(callback)
  }

  /** Adds a cursor, which ends with the session. */
  add(cursor: Closeable): void {
    this.#cursors.add(cursor)
  }

  remove(cursor: Closeable): void {
    this.#cursors.delete(cursor)
  }

  /**
   * Returns the target for the requests of a call. `called` is the database on which the call was made: the owner, or another
   * `Database` of the same file. Throws if the session accepts no calls.
   */
  usable(operation: string, called: DatabaseHandle): WriteTarget {
    if (called === this.owner) {
      this.checkOpen(operation)
      return this
    }
    called.usable()
    this.checkOpen(operation)
    const { channel, id } = this
    const onInterrupt = this.onInterrupt.bind(this)
    return { channel, path: called.path, id, flags: called.flags | RequestFlags.SESSION, onInterrupt }
  }

  /** Throws if the session accepts no calls any more. */
  checkOpen(operation: string): void {
    if (this.state === 'open') return
    const cause = this.#interrupted?.toError()
    const why = cause === undefined ? '' : ` (${cause.message})`
    const message = `${operation}: the ${this.kind} has ended${why}`
    throw new TransactionError(message, operation, undefined, { cause })
  }

  /** Ends the session after the calls that still run. */
  async commit(): Promise<void> {
    this.end()
    await this.rollback().promise
  }

  /** Interrupts the calls that run, and undoes everything. */
  undo(): Pending {
    this.end()
    const message =
      this.kind === 'snapshot'
        ? 'The body of the snapshot has failed'
        : 'The surrounding transaction was rolled back'
    this.abandonRunning(new Failure(() => new TransactionError(message, this.kind)))
    return this.rollback()
  }

  /** Waits until an interruption has undone everything. */
  async undone(): Promise<void> {
    await this.#undone
  }

  /** Ends the session from outside. `sessionEnded`: the native side has undone it already. */
  interrupt(failure: Failure, sessionEnded = false): void {
    if (this.state === 'ended') return
    this.#interrupted = failure
    this.end(failure)
    this.abandonRunning(failure)
    if (this.#begin !== undefined && !this.#begin.settled) this.channel.cancel(this.#begin, failure)
    else if (!sessionEnded) this.#undone = this.rollback().promise
    this.#resolveInterruption(failure)
  }

  /** Stops accepting calls, and ends the cursors. */
  protected end(failure?: Failure): void {
    this.state = 'ended'
    const { kind } = this
    const ended =
      failure ?? new Failure(() => new TransactionError(`iterate: the ${kind} has ended`, 'iterate'))
    for (const cursor of [...this.#cursors]) cursor.interrupt(ended)
  }

  /** Cancels the running calls. The code that ends the session reports the failure, so their rejections count as handled. */
  protected abandonRunning(failure: Failure): void {
    for (const interrupt of [...this.#interruptions]) interrupt(failure)
    for (const { promise, request } of this.running) {
      promise.catch(() => {})
      if (request !== undefined) this.channel.cancel(request, failure)
    }
  }

  /** Ends the session on the native side. Nothing is committed. */
  rollback(): Pending {
    return this.channel.request(Op.END, this.flags, this.id)
  }
}

/** Resolves with the outcome of `work`. Never rejects. */
export async function outcomeOf<T>(work: () => T | PromiseLike<T>): Promise<Outcome<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    return { error }
  }
}
