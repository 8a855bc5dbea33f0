import type { Closeable, DatabaseHandle, Target } from '../channel/database-handle'
import type { Pending } from '../channel/pending'
import { onAbort, throwIfAborted } from '../core/abort'
import { checkBody, checkOptions } from '../core/checks'
import { closedError, ResqliteError, TransactionError } from '../core/errors'
import { abortFailure, Failure, unwrap } from '../core/failure'
import type { SnapshotOptions } from '../core/types'
import {
  type CursorPlace,
  closeCursors,
  cursorPlace,
  type OpenCursors,
  SharedSession,
} from '../statements/cursor-place'
import { Queryable } from '../statements/queryable'
import { type Call, run } from '../statements/requests'
import { traced } from '../statements/tracing'
import { Op, RequestFlags } from '../wire/protocol'
import type { BodyOutcome, RunningCall } from './transaction-scope'

/**
 * The snapshot that the body of {@link Database.snapshot} gets. Its methods work until the body has ended; after that they
 * reject with a {@link TransactionError}.
 */
export class Snapshot extends Queryable {
  readonly #session: SnapshotSession

  /** @internal */
  constructor(session: SnapshotSession) {
    super()
    this.#session = session
    collected.register(this, session)
  }

  /** @internal */
  override [cursorPlace](): CursorPlace {
    return this.#session.cursorPlace()
  }

  /** @internal */
  override [run]<T>(call: Call, sql: string, params: unknown, options: unknown): Promise<T> {
    return this.#session.statement(call, sql, params, options)
  }
}

/** Runs a body on one committed state. */
export async function runSnapshot<T>(
  handle: DatabaseHandle,
  body: (snapshot: Snapshot) => T | PromiseLike<T>,
  options?: SnapshotOptions,
): Promise<T> {
  checkBody('snapshot', body)
  checkOptions('snapshot', options)
  throwIfAborted(options?.signal)
  const session = new SnapshotSession(handle)
  const unwatch = watch(session, options)
  handle.add(session)
  try {
    unwrap(await session.begin().promise)
    // `any` instead of `race`: neither side rejects, and only `any` keeps the caller in the stack traces of errors.
    const outcome = await Promise.any([perform(session, body), session.interruption])
    if ('error' in outcome) session.abandon(bodyFailed)
    await session.end()
    if (outcome instanceof Failure) throw outcome.toError()
    if ('error' in outcome) throw outcome.error
    return outcome.value
  } finally {
    handle.remove(session)
    unwatch()
  }
}

/** Interrupts a snapshot when its signal fires or its time is over. Returns a function that cancels both. */
function watch(session: SnapshotSession, { signal, timeout }: SnapshotOptions = {}): () => void {
  const unwatch = signal && onAbort(signal, () => session.interrupt(abortFailure(signal.reason)))
  const timer =
    timeout === undefined ? undefined : setTimeout(() => session.interrupt(timeoutFailure(timeout)), timeout)
  return () => {
    unwatch?.()
    clearTimeout(timer)
  }
}

const ended = new Failure(() => new TransactionError('iterate: the snapshot has ended', 'iterate'))

const bodyFailed = new Failure(() => new TransactionError('The body of the snapshot has failed', 'snapshot'))

function timeoutFailure(timeout: number): Failure {
  return new Failure(
    () => new ResqliteError(`The snapshot took longer than ${timeout} ms`, 'RESQLITE_TIMEOUT'),
  )
}

/**
 * Runs the body, unless the snapshot was interrupted before. Only the body refers to the `Snapshot`, so that it is
 * collected when the body can never end.
 */
async function perform<T>(
  session: SnapshotSession,
  body: (snapshot: Snapshot) => T | PromiseLike<T>,
): Promise<BodyOutcome<T> | Failure> {
  if (session.interrupted) return await session.interruption
  try {
    return { value: await body(new Snapshot(session)) }
  } catch (error) {
    return { error }
  }
}

class SnapshotSession implements Target, Closeable {
  readonly channel
  readonly path: string
  readonly id: number
  readonly flags: number
  /** Resolves when the snapshot is interrupted from outside: by a signal, a timeout, or `close`. */
  readonly interruption: Promise<Failure>
  #interrupt!: (failure: Failure) => void
  #begin: Pending | undefined
  #end: Promise<unknown> | undefined
  #isInterrupted = false
  readonly #running = new Set<RunningCall>()
  readonly #cursors: OpenCursors = new Set()

  constructor(readonly handle: DatabaseHandle) {
    this.channel = handle.channel
    this.path = handle.path
    this.id = this.channel.newSession()
    this.flags = handle.flags | RequestFlags.SESSION
    this.interruption = new Promise((resolve) => {
      this.#interrupt = resolve
    })
  }

  get interrupted(): boolean {
    return this.#isInterrupted
  }

  begin(): Pending {
    const { channel, handle, id } = this
    this.#begin = channel.request(Op.SNAPSHOT, handle.flags, handle.id, (writer) => writer.u32(id))
    return this.#begin
  }

  /** Releases the thread, after the selects that still run. */
  async end(): Promise<void> {
    closeCursors(this.#cursors, ended)
    this.#end ??= this.channel.request(Op.END, this.flags, this.id).promise
    await this.#end
  }

  /** Ends the snapshot from outside: running selects are interrupted, further ones fail. */
  interrupt(failure: Failure): void {
    if (this.#isInterrupted) return
    this.#isInterrupted = true
    closeCursors(this.#cursors, failure)
    if (this.#begin !== undefined) this.channel.cancel(this.#begin, failure)
    this.abandon(failure)
    this.#interrupt(failure)
  }

  /** Interrupts the running selects. The snapshot itself reports the failure, so their rejections count as handled. */
  abandon(failure: Failure): void {
    for (const { promise, request } of this.#running) {
      promise.catch(() => {})
      if (request !== undefined) this.channel.abandon(request, failure)
    }
  }

  /** Where a cursor runs that is opened now. */
  cursorPlace(): CursorPlace {
    return new SharedSession(this.#cursors, () => this.#usable('iterate'))
  }

  /** Runs one select. */
  statement<T>(call: Call, sql: string, params: unknown, options: unknown): Promise<T> {
    const running: RunningCall = { promise: Promise.resolve(), request: undefined }
    const promise = this.#run<T>(running, call, sql, params, options)
    running.promise = promise
    return promise
  }

  async #run<T>(
    running: RunningCall,
    call: Call,
    sql: string,
    params: unknown,
    options: unknown,
  ): Promise<T> {
    const request = traced(call).start(this.#usable(call.name), sql, params, options)
    running.request = request
    this.#running.add(running)
    try {
      return unwrap<T>(await request.promise, sql)
    } finally {
      this.#running.delete(running)
    }
  }

  #usable(operation: string): this {
    if (this.#end === undefined && !this.#isInterrupted) return this
    const cause = this.handle.isOpen ? undefined : closedError(this.handle.path)
    throw new TransactionError(`${operation}: the snapshot has ended`, operation, undefined, { cause })
  }
}

/** Releases the threads of snapshots that were garbage-collected, such as those whose bodies never end. */
const collected = new FinalizationRegistry<SnapshotSession>((session) => session.end())
