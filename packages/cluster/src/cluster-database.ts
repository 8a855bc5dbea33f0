import {
  type AnyParams,
  type Bytes,
  Database,
  type IterateOptions,
  type MaybeArrays,
  type ParamsOf,
  type QueryLike,
  type QueryResult,
  type ReadOptions,
  ResqliteError,
  type Row,
  type RowAs,
  type RowsOf,
  type SelectOptions,
  type Snapshot,
  type SnapshotOptions,
  type Transaction,
} from 'resqlite'
import {
  AGAIN,
  clusterStatus,
  type DatabaseHandle,
  isInTransaction,
  putSnapshot,
  reach,
  refused,
} from 'resqlite/seam'
import type { ClusterTransactionOptions, ReachOptions } from './options'
import { iterateAfter, positionOf, readOf, signalOf } from './reads'
import { Attempt, retriesOf } from './retries'
import type { ClusterStatus } from './status'

/**
 * A node of a cluster, returned by {@link Cluster.open}: a {@link Database} that other machines also have.
 *
 * A write is done when a majority of the log has it on its disks and this node shows it. `commit` is its position in the log, the
 * same number on every node. A write runs on the node that is the writer at present, in one group with the writes of other nodes.
 * Writes that are not awaited may run in any order. A transaction, a batch in a transaction, and a write with `limits` run on this
 * node.
 *
 * Reads and live queries show the state of this node: whole transactions, in the order of the log. `fresh` and `after` ask for a
 * newer state.
 */
export class ClusterDatabase extends Database {
  readonly #handle: DatabaseHandle

  /** @internal Use {@link Cluster.open}. */
  constructor(handle: DatabaseHandle) {
    super(handle)
    this.#handle = handle
  }

  /** The status of this node, as far as the node knows. */
  get status(): ClusterStatus {
    return clusterStatus(this.#handle) as ClusterStatus
  }

  /**
   * Waits until this node has the state that the options ask for, and returns its position. Use it before live queries, and before
   * other calls that take no such options. Not available inside a transaction.
   *
   * ```ts
   * await db.reach({ after: commit })
   * ```
   */
  async reach(options: ReachOptions & { signal?: AbortSignal | undefined }): Promise<number> {
    const { signal, ...what } = options ?? {}
    const position = positionOf('reach', what)
    if (position === undefined) throw refused('reach: one of the options fresh and after is needed')
    return await this.#reach('reach', position, signalOf('reach', { signal }))
  }

  /**
   * Puts a snapshot of this node into the store of the log, and returns its position. Nodes also do so by themselves ({@link
   * ClusterOptions.snapshotEvery}).
   *
   * ```ts
   * await db.clusterSnapshot()
   * ```
   */
  async clusterSnapshot(options?: { signal?: AbortSignal | undefined }): Promise<number> {
    const signal = signalOf('clusterSnapshot', options)
    this.#refuseInTransaction('clusterSnapshot')
    return await putSnapshot(this.#handle, signal)
  }

  /**
   * Runs `body` in a transaction on this node. If another node was first, the body runs again from its start, on the new state: up
   * to `retries` times, 10 unless set otherwise. So the body should do nothing that cannot be done twice, except through `tx`.
   * After the last retry, the call rejects with the code `RESQLITE_OVERTAKEN`, and nothing has happened. Nested transactions are
   * run again with the outermost one.
   *
   * ```ts
   * await db.transaction(async (tx) => {
   *   const { stock } = await tx.selectOne('SELECT stock FROM items WHERE id = ?', [id])
   *   if (stock > 0) await tx.execute('UPDATE items SET stock = stock - 1 WHERE id = ?', [id])
   * }, { retries: 100 })
   * ```
   */
  override async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options?: ClusterTransactionOptions,
  ): Promise<T> {
    const { retries, own } = retriesOf(options)
    if (typeof body !== 'function' || isInTransaction(this.#handle)) return await super.transaction(body, own)
    for (let left = retries; ; left--) {
      const attempt = new Attempt(body)
      const options = left < retries ? { ...own, [AGAIN]: true } : own
      try {
        return await super.transaction(attempt.body, options)
      } catch (error) {
        if (left === 0 || !attempt.wasOvertaken(error)) throw error
      }
    }
  }

  override select<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<SelectOptions & ReachOptions, A>,
  ): Promise<RowAs<T, A>[]>
  override select<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<SelectOptions & ReachOptions, A>,
  ): Promise<RowsOf<T, Q, RowAs<Row, A>>>
  override select(...args: unknown[]): Promise<unknown[]> {
    return this.#read('select', args, (rest) => super.select(...(rest as [string])))
  }

  override selectOne<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<SelectOptions & ReachOptions, A>,
  ): Promise<RowAs<T, A> | undefined>
  override selectOne<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<SelectOptions & ReachOptions, A>,
  ): Promise<RowsOf<T, Q, RowAs<Row, A>>[number] | undefined>
  override selectOne(...args: unknown[]): Promise<unknown> {
    return this.#read('selectOne', args, (rest) => super.selectOne(...(rest as [string])))
  }

  override selectBytes<P extends ParamsOf<P> = AnyParams>(
    sql: string,
    params?: P,
    options?: ReadOptions & ReachOptions,
  ): Promise<Bytes>
  override selectBytes(query: QueryLike, options?: ReadOptions & ReachOptions): Promise<Bytes>
  override selectBytes(...args: unknown[]): Promise<Bytes> {
    return this.#read('selectBytes', args, (rest) => super.selectBytes(...(rest as [string])))
  }

  override iterate<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<IterateOptions & ReachOptions, A>,
  ): AsyncIterableIterator<RowAs<T, A>>
  override iterate<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<IterateOptions & ReachOptions, A>,
  ): AsyncIterableIterator<RowsOf<T, Q, RowAs<Row, A>>[number]>
  override iterate(...args: unknown[]): AsyncIterableIterator<unknown> {
    const { position, signal, rest } = readOf('iterate', args, placeOfOptions(args))
    const rows = super.iterate(...(rest as [string])) as AsyncIterableIterator<unknown>
    return position === undefined ? rows : iterateAfter(() => this.#reach('iterate', position, signal), rows)
  }

  override query<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<SelectOptions & ReachOptions, A>,
  ): Promise<QueryResult<RowAs<T, A>>>
  override query<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<SelectOptions & ReachOptions, A>,
  ): Promise<QueryResult<RowsOf<T, Q, RowAs<Row, A>>[number]>>
  override query(...args: unknown[]): Promise<QueryResult<unknown>> {
    return this.#read('query', args, (rest) => super.query(...(rest as [string])))
  }

  override snapshot<T>(
    body: (snapshot: Snapshot) => T | PromiseLike<T>,
    options?: SnapshotOptions & ReachOptions,
  ): Promise<T> {
    return this.#readAt('snapshot', [body, options], 1, (rest) =>
      super.snapshot(body, rest[1] as SnapshotOptions | undefined),
    )
  }

  /** Runs a read once this node has the state that the read asks for. */
  #read<T>(
    method: string,
    args: readonly unknown[],
    start: (rest: readonly unknown[]) => Promise<T>,
  ): Promise<T> {
    return this.#readAt(method, args, placeOfOptions(args), start)
  }

  async #readAt<T>(
    method: string,
    args: readonly unknown[],
    at: number,
    start: (rest: readonly unknown[]) => Promise<T>,
  ): Promise<T> {
    const { position, signal, rest } = readOf(method, args, at)
    if (position !== undefined) await this.#reach(method, position, signal)
    return await start(rest)
  }

  async #reach(method: string, position: number, signal: AbortSignal | undefined): Promise<number> {
    this.#refuseInTransaction(method)
    return await reach(this.#handle, position, signal)
  }

  #refuseInTransaction(method: string): void {
    if (!isInTransaction(this.#handle)) return
    const message = `${method}: a transaction holds the writer, so that this node takes no entries of others before its end`
    throw new ResqliteError(message, 'RESQLITE_TRANSACTION')
  }
}

/** Returns the place of the options: after SQL and parameters, or after a query. */
function placeOfOptions(args: readonly unknown[]): number {
  return typeof args[0] === 'string' ? 2 : 1
}
