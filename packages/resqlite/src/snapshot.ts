import { closedError, Failure, TransactionError } from './errors'
import type { Handle, Session } from './handle'
import { checkBody } from './options'
import type { Pending } from './pending'
import { Flag, Op } from './protocol'
import type { BodyOutcome } from './scope'
import { startSelect, startSelectBytes, startSelectOne, type Target, unwrap } from './statements'
import type { ReadOptions, Row, RowArray, SelectOptions, SqlParams } from './types'

/** The handle that the body of {@link Database.snapshot} reads with. It ends with the body. */
export class Snapshot {
  readonly #session: SnapshotSession

  /** @internal */
  constructor(session: SnapshotSession) {
    this.#session = session
  }

  /** All rows of a query. */
  select<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T[]>
  select<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T[]>
  async select(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown[]> {
    const pending = startSelect(this.#session.usable('select'), sql, params, options)
    return unwrap(await pending.promise, sql)
  }

  /** The first row of a query, or undefined. */
  selectOne<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T | undefined>
  selectOne<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T | undefined>
  async selectOne(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown> {
    const pending = startSelectOne(this.#session.usable('selectOne'), sql, params, options)
    return unwrap(await pending.promise, sql)
  }

  /** The rows as a JSON array of objects, in UTF-8. See {@link Database.selectBytes}. */
  async selectBytes(sql: string, params?: SqlParams, options?: ReadOptions): Promise<Uint8Array> {
    const pending = startSelectBytes(this.#session.usable('selectBytes'), sql, params, options)
    return unwrap(await pending.promise, sql)
  }
}

/** Runs a body on one committed state. */
export async function runSnapshot<T>(
  handle: Handle,
  body: (snapshot: Snapshot) => T | PromiseLike<T>,
): Promise<T> {
  checkBody('snapshot', body)
  const session = new SnapshotSession(handle)
  handle.sessionBegins(session)
  try {
    unwrap(await session.begin().promise)
    const snapshot = new Snapshot(session)
    // `any` and not `race`: neither side rejects, and only through `any` do stack traces lead on to the caller.
    const outcome = await Promise.any([perform(() => body(snapshot)), session.interruption])
    await session.end()
    if (outcome instanceof Failure) throw outcome.toError()
    if ('error' in outcome) throw outcome.error
    return outcome.value
  } finally {
    handle.sessionEnded(session)
  }
}

async function perform<T>(body: () => T | PromiseLike<T>): Promise<BodyOutcome<T>> {
  try {
    return { value: await body() }
  } catch (error) {
    return { error }
  }
}

class SnapshotSession implements Target, Session {
  readonly channel
  readonly id: number
  readonly flags: number
  /** Resolves when the database is closed. */
  readonly interruption: Promise<Failure>
  #interrupt!: (failure: Failure) => void
  #begin: Pending | undefined
  #open = true

  constructor(readonly handle: Handle) {
    this.channel = handle.channel
    this.id = this.channel.newSession()
    this.flags = handle.flags | Flag.SESSION
    this.interruption = new Promise((resolve) => {
      this.#interrupt = resolve
    })
  }

  begin(): Pending {
    const { channel, handle, id } = this
    this.#begin = channel.request(Op.SNAPSHOT, handle.flags, handle.id, (writer) => writer.u32(id))
    return this.#begin
  }

  /** Frees the reader. Selects that still run are finished first. */
  async end(): Promise<void> {
    this.#open = false
    await this.channel.request(Op.END, this.flags, this.id).promise
  }

  interrupt(failure: Failure): void {
    this.#open = false
    if (this.#begin !== undefined) this.channel.cancel(this.#begin, failure)
    this.#interrupt(failure)
  }

  usable(operation: string): this {
    if (this.#open) return this
    const cause = this.handle.isOpen ? undefined : closedError(this.handle.path)
    throw new TransactionError(`${operation}: the snapshot has ended`, operation, undefined, { cause })
  }
}
