import type { Handle, Session } from './channel/database-handle'
import type { Pending } from './channel/pending'
import { onAbort, throwIfAborted } from './core/abort'
import { checkBody, checkOptions } from './core/checks'
import { aborted, closedError, Failure, ResqliteError, TransactionError } from './core/errors'
import type { ReadOptions, Row, RowArray, SelectOptions, SnapshotOptions, SqlParams } from './core/types'
import { startSelect, startSelectBytes, startSelectOne, type Target, unwrap } from './requests'
import type { BodyOutcome, Work } from './transaction-scope'
import { Flag, Op } from './wire/protocol'

/** The handle that the body of {@link Database.snapshot} reads with. It ends with the body. */
export class Snapshot {
  readonly #session: SnapshotSession

  /** @internal */
  constructor(session: SnapshotSession) {
    this.#session = session
    collected.register(this, session)
  }

  /** All rows of a query. */
  select<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T[]>
  select<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T[]>
  select(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown[]> {
    return this.#session.statement('select', sql, (target) => startSelect(target, sql, params, options))
  }

  /** The first row of a query, or undefined. */
  selectOne<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T | undefined>
  selectOne<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T | undefined>
  selectOne(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown> {
    return this.#session.statement('selectOne', sql, (target) => startSelectOne(target, sql, params, options))
  }

  /** The rows as a JSON array of objects, in UTF-8. See {@link Database.selectBytes}. */
  selectBytes(sql: string, params?: SqlParams, options?: ReadOptions): Promise<Uint8Array> {
    return this.#session.statement('selectBytes', sql, (target) =>
      startSelectBytes(target, sql, params, options),
    )
  }
}

/** Runs a body on one committed state. */
export async function runSnapshot<T>(
  handle: Handle,
  body: (snapshot: Snapshot) => T | PromiseLike<T>,
  options?: SnapshotOptions,
): Promise<T> {
  checkBody('snapshot', body)
  checkOptions('snapshot', options)
  throwIfAborted(options?.signal)
  const session = new SnapshotSession(handle)
  const unwatch = watch(session, options)
  handle.sessionBegins(session)
  try {
    unwrap(await session.begin().promise)
    // `any` and not `race`: neither side rejects, and only through `any` do stack traces lead on to the caller.
    const outcome = await Promise.any([perform(session, body), session.interruption])
    if ('error' in outcome) session.abandon(bodyFailed)
    await session.end()
    if (outcome instanceof Failure) throw outcome.toError()
    if ('error' in outcome) throw outcome.error
    return outcome.value
  } finally {
    handle.sessionEnded(session)
    unwatch()
  }
}

/** Interrupts a snapshot when its signal fires or its time is over; returns what takes that back. */
function watch(session: SnapshotSession, { signal, timeout }: SnapshotOptions = {}): () => void {
  const unwatch = signal && onAbort(signal, () => session.interrupt(aborted(signal.reason)))
  const timer =
    timeout === undefined ? undefined : setTimeout(() => session.interrupt(late(timeout)), timeout)
  return () => {
    unwatch?.()
    clearTimeout(timer)
  }
}

const bodyFailed = new Failure(() => new TransactionError('The body of the snapshot has failed', 'snapshot'))

function late(timeout: number): Failure {
  return new Failure(
    () => new ResqliteError(`The snapshot took longer than ${timeout} ms`, 'RESQLITE_TIMEOUT'),
  )
}

/** Nothing here refers to the snapshot but its body. An interruption that came before it is still to be told. */
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

class SnapshotSession implements Target, Session {
  readonly channel
  readonly id: number
  readonly flags: number
  /** Resolves when the snapshot is interrupted from outside: by a signal, a timeout, or `close`. */
  readonly interruption: Promise<Failure>
  #interrupt!: (failure: Failure) => void
  #begin: Pending | undefined
  #end: Promise<unknown> | undefined
  #isInterrupted = false
  readonly #running = new Set<Work>()

  constructor(readonly handle: Handle) {
    this.channel = handle.channel
    this.id = this.channel.newSession()
    this.flags = handle.flags | Flag.SESSION
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

  /** Frees the reader. Selects that still run are finished first. */
  async end(): Promise<void> {
    this.#end ??= this.channel.request(Op.END, this.flags, this.id).promise
    await this.#end
  }

  /** Ends it from outside: what runs is interrupted, what comes is refused. */
  interrupt(failure: Failure): void {
    if (this.#isInterrupted) return
    this.#isInterrupted = true
    if (this.#begin !== undefined) this.channel.cancel(this.#begin, failure)
    this.abandon(failure)
    this.#interrupt(failure)
  }

  /** Interrupts what runs. The snapshot itself fails, so nobody has to catch these. */
  abandon(failure: Failure): void {
    for (const { promise, request } of this.#running) {
      promise.catch(() => {})
      if (request !== undefined) this.channel.abandon(request, failure)
    }
  }

  /** Runs one select. */
  statement<T>(operation: string, sql: string, start: (target: Target) => Pending): Promise<T> {
    const work: Work = { promise: Promise.resolve(), request: undefined }
    const promise = this.#run<T>(work, operation, sql, start)
    work.promise = promise
    return promise
  }

  async #run<T>(work: Work, operation: string, sql: string, start: (target: Target) => Pending): Promise<T> {
    const request = start(this.#usable(operation))
    work.request = request
    this.#running.add(work)
    try {
      return unwrap<T>(await request.promise, sql)
    } finally {
      this.#running.delete(work)
    }
  }

  #usable(operation: string): this {
    if (this.#end === undefined && !this.#isInterrupted) return this
    const cause = this.handle.isOpen ? undefined : closedError(this.handle.path)
    throw new TransactionError(`${operation}: the snapshot has ended`, operation, undefined, { cause })
  }
}

/** Frees the readers of snapshots that nobody can use any more, such as those whose bodies never end. */
const collected = new FinalizationRegistry<SnapshotSession>((session) => session.end())
