import type { DatabaseHandle } from '../channel/database-handle'
import { checkOptions } from '../core/checks'
import { unwrap } from '../core/failure'
import { Iteration } from '../core/iteration'
import { checkNames, queryOf, statementOf } from '../core/query'
import type { Description, QueryResult } from '../core/query-types'
import type {
  AbortOptions,
  AnyParams,
  Bytes,
  IterateOptions,
  MaybeArrays,
  ParamsOf,
  QueryLike,
  ReadOptions,
  Row,
  RowAs,
  RowsOf,
  SelectOptions,
} from '../core/types'
import { Cursor } from './cursor'
import { BUILT, type Call, DESCRIBE, QUERY, SELECT, SELECT_BYTES, SELECT_ONE, start } from './requests'
import type { Session } from './session'

/** The keys of the members that calls need: symbols, so that no member of a subclass replaces them. */
export const handleOf: unique symbol = Symbol('handle')
export const sessionOf: unique symbol = Symbol('session')
export const run: unique symbol = Symbol('run')

/**
 * An object that can be queried: a {@link Database}, a {@link Transaction}, a {@link Snapshot}. Use it as the type of a
 * parameter in functions that read from any of these.
 *
 * ```ts
 * const userById = (q: Queryable, id: number) => q.selectOne<User>('SELECT * FROM users WHERE id = ?', [id])
 * ```
 *
 * In place of SQL and parameters, every method accepts a {@link QueryLike}: `{ sql, params }`, a query that the `sql` tag
 * makes, or a query of Kysely or Drizzle.
 */
export abstract class Queryable {
  /**
   * Returns all rows of a query. On a database, the query runs on a native thread, or on the calling thread if it is quick,
   * and sees the latest commit. In a transaction, it sees what the transaction has written so far; in a snapshot, the state
   * of the snapshot. A statement that would write is refused with the code `RESQLITE_READ_ONLY`.
   *
   * ```ts
   * const users = await db.select<{ id: number; name: string }>('SELECT id, name FROM users WHERE age > ?', [30])
   * const pairs = await db.select('SELECT id, name FROM users', [], { arrays: true })
   * const same = await db.select(sql`SELECT id, name FROM users WHERE age > ${30}`)
   * ```
   */
  select<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<RowAs<T, A>[]>
  select<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<RowsOf<T, Q, RowAs<Row, A>>>
  select(sql: string | QueryLike, params?: unknown, options?: SelectOptions): Promise<unknown[]> {
    return this[run](SELECT, sql, params, options)
  }

  /**
   * Returns the first row of a query, or undefined if there is none. Further rows are not computed.
   *
   * ```ts
   * const user = await db.selectOne('SELECT * FROM users WHERE id = :id', { id: 7 })
   * ```
   */
  selectOne<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<RowAs<T, A> | undefined>
  selectOne<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<RowsOf<T, Q, RowAs<Row, A>>[number] | undefined>
  selectOne(sql: string | QueryLike, params?: unknown, options?: SelectOptions): Promise<unknown> {
    return this[run](SELECT_ONE, sql, params, options)
  }

  /**
   * Returns the rows of a query as a JSON array of objects in UTF-8, encoded on a native thread and ready to be sent.
   * BLOBs become base64 strings; 64-bit integers keep all their digits.
   *
   * ```ts
   * response.end(await db.selectBytes('SELECT * FROM users'))
   * ```
   */
  selectBytes<P extends ParamsOf<P> = AnyParams>(
    sql: string,
    params?: P,
    options?: ReadOptions,
  ): Promise<Bytes>
  selectBytes(query: QueryLike, options?: ReadOptions): Promise<Bytes>
  selectBytes(sql: string | QueryLike, params?: unknown, options?: SelectOptions): Promise<Bytes> {
    return this[run](SELECT_BYTES, sql, params, options)
  }

  /**
   * Iterates over the rows of a query. At most two batches of rows are in memory. The query starts with the first `next()`.
   * Leaving the loop ends the iteration: `return()` interrupts the query at once, and a `next()` that waits gets
   * `{ done: true }`.
   *
   * On a database, all rows belong to one committed state, and the iteration has a connection until it ends. In a transaction
   * or snapshot, the iteration runs between the other calls, some of which may iterate, too. The end of the body closes the
   * iterations that it left open. Writes of the transaction meanwhile do not change rows that have been fetched; SQLite
   * decides whether later rows show the writes. A table that is iterated over cannot be dropped. If a rollback to a savepoint
   * undoes a change of the schema, the iteration fails with the code `SQLITE_ABORT_ROLLBACK`.
   *
   * ```ts
   * for await (const row of db.iterate('SELECT * FROM log', [], { batchSize: 500 })) write(row)
   * ```
   */
  iterate<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<IterateOptions, A>,
  ): AsyncIterableIterator<RowAs<T, A>>
  iterate<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<IterateOptions, A>,
  ): AsyncIterableIterator<RowsOf<T, Q, RowAs<Row, A>>[number]>
  iterate(first: unknown, second?: unknown, third?: unknown): AsyncIterableIterator<unknown> {
    const { sql, params, isBuilt, options } = statementOf(first, second, third)
    checkOptions('iterate', options)
    return new Iteration(
      new Cursor(this[handleOf], this[sessionOf], sql, params, isBuilt, options as IterateOptions),
      this,
    )
  }

  /**
   * Runs one statement of any kind, and returns its rows, their columns, and its changes. SQLite decides where it runs: a
   * statement that only reads runs as {@link Queryable.select} does, any other as {@link Executor.execute} does, with the
   * rows of its `RETURNING` clause. In a snapshot, a statement that writes is refused.
   *
   * ```ts
   * const { rows, columns, changes } = await db.query(sqlOfUser)
   * const names = columns.map(({ name, type, table }) => `${table}.${name} ${type}`)
   * ```
   *
   * Calls that are not awaited run in their order if their first keyword says that they write, as INSERT or CREATE does.
   */
  query<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<QueryResult<RowAs<T, A>>>
  query<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<SelectOptions, A>,
  ): Promise<QueryResult<RowsOf<T, Q, RowAs<Row, A>>[number]>>
  query(sql: string | QueryLike, params?: unknown, options?: SelectOptions): Promise<QueryResult<unknown>> {
    return this[run](QUERY, sql, params, options)
  }

  /**
   * Describes a statement of any kind without running it: whether it only reads, its columns and its parameters. A PRAGMA
   * that SQLite would carry out at once is refused with the code `RESQLITE_READ_ONLY`.
   *
   * ```ts
   * const { readOnly, columns, parameters } = await db.describe('SELECT name, born FROM users WHERE id = :id')
   * parameters // [':id']
   * columns[1] // { name: 'born', type: 'DATE', table: 'users', column: 'born', database: 'main' }
   * ```
   */
  describe(sql: string | QueryLike, options?: AbortOptions): Promise<Description> {
    return typeof sql === 'string'
      ? this[run](DESCRIBE, sql, undefined, options)
      : this[run](DESCRIBE, sql, options)
  }

  /** @internal The database that is called. */
  abstract get [handleOf](): DatabaseHandle

  /** @internal The transaction or snapshot that a call joins if it is made now. */
  abstract get [sessionOf](): Session | undefined

  /** @internal Makes a call with SQL, parameters and options, or with a query and options. */
  [run]<T>(call: Call, first: string | QueryLike, second: unknown, third?: SelectOptions): Promise<T> {
    if (typeof first !== 'string') return runQuery(this, call, first, second as SelectOptions)
    const handle = this[handleOf]
    const session = this[sessionOf]
    return session === undefined
      ? runAlone(handle, call, first, second, third)
      : session.statement(call, first, second, third, handle)
  }
}

async function runQuery<T>(
  caller: Queryable,
  call: Call,
  query: QueryLike,
  options: SelectOptions | undefined,
): Promise<T> {
  const { sql, params, isBuilt } = queryOf(query)
  if (!isBuilt) return await caller[run](call, sql, params, options)
  const result = caller[run]<T>(BUILT.get(call) ?? call, sql, params, options)
  // The result of a write is returned in any case, because the write is done already.
  if (call === QUERY) {
    const { columns, changes } = (await result) as QueryResult
    if (changes === 0 && options?.arrays !== true) checkNames(columns.map(({ name }) => name))
  } else if (call === SELECT_BYTES) {
    const [, { columns }] = await Promise.all([result, caller.describe(sql)])
    checkNames(columns.map(({ name }) => name))
  }
  return await result
}

/** Runs a call on a database, outside of transactions. */
async function runAlone<T>(
  handle: DatabaseHandle,
  call: Call,
  sql: string,
  params: unknown,
  options: SelectOptions | undefined,
): Promise<T> {
  const target = call.writes ? handle.writable(call.name) : handle.usable()
  return unwrap(await start(call, target, sql, params, options).promise, sql)
}
