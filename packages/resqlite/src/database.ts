import { runBatch } from './batch'
import { Channel } from './channel/channel'
import { DatabaseHandle, type Target } from './channel/database-handle'
import { Answer, type Pending } from './channel/pending'
import { checkOptions, checkPath, checkSql } from './core/checks'
import { asyncDispose } from './core/dispose'
import { ResqliteError } from './core/errors'
import { unwrap } from './core/failure'
import { Iteration } from './core/iteration'
import type { LiveQuery, Query, StreamExplanation, StreamOptions, StreamRows } from './core/live-types'
import { innermost } from './core/transaction-context'
import type {
  AbortOptions,
  Diagnostics,
  ExecuteOptions,
  IterateOptions,
  OpenOptions,
  ReadOptions,
  Row,
  RowArray,
  SelectOptions,
  SnapshotOptions,
  SqlParams,
  TransactionOptions,
  WriteResult,
} from './core/types'
import { Cursor } from './cursor'
import { LiveQueryObject } from './live/live-query'
import { planStream } from './live/stream-plan'
import { startExec, startExecute, startSelect, startSelectBytes, startSelectOne } from './requests'
import { runSnapshot, type Snapshot } from './snapshot'
import { nestedTransaction, type Transaction, topTransaction } from './transaction'
import type { TransactionScope } from './transaction-scope'
import { nativeBinding } from './wire/native'
import { writeParams } from './wire/params'
import { INTEGER_FLAGS, Op, RequestFlags } from './wire/protocol'

let shared: Channel | undefined

/** Returns the channel of this realm. */
function sharedChannel(): Channel {
  shared ??= new Channel(nativeBinding())
  return shared
}

async function openHandle(
  channel: Channel,
  path: string,
  options: OpenOptions = {},
): Promise<DatabaseHandle> {
  // JSON leaves out options that are undefined, so they count as not given.
  const request = JSON.stringify({ path, ...options, integers: undefined })
  const pending = channel.request(Op.OPEN, 0, 0, (writer) => writer.text(request))
  const { handle, engine } = unwrap<{ handle: number; engine: number }>(await pending.promise)
  const durability = options.durability === 'full' ? RequestFlags.FULL : 0
  const flags = INTEGER_FLAGS[options.integers ?? 'auto'] | durability
  return new DatabaseHandle(channel, handle, engine, flags, path, options.readOnly === true)
}

/**
 * A SQLite database whose queries and writes run on native threads, so that no call blocks the event loop.
 *
 * ```ts
 * const db = await Database.open('app.db')
 * await db.execute('INSERT INTO users(name) VALUES (?)', ['Ada'])
 * const users = await db.select('SELECT * FROM users WHERE name = ?', ['Ada'])
 * await db.close()
 * ```
 *
 * Calls made inside the body of {@link Database.transaction} join that transaction, whether they are made on this object or
 * on another `Database` of the same file. Once the body has returned or thrown, calls that it left behind run on their
 * own.
 *
 * A wrong argument is a `TypeError` or `RangeError` with a `code`. Errors of SQLite and of the engine are
 * {@link ResqliteError}s.
 */
export class Database implements AsyncDisposable {
  readonly #handle: DatabaseHandle

  /** Use {@link Database.open}. The constructor of a subclass must pass its arguments on. */
  protected constructor(handle: DatabaseHandle) {
    this.#handle = handle
  }

  /**
   * Opens a database file, and creates it if it does not exist. The path `':memory:'` opens a new database in memory.
   * Rejects with an error that names the file and the reason. On a subclass, it returns an object of that class.
   *
   * ```ts
   * const db = await Database.open('app.db', { durability: 'full' })
   * ```
   */
  static async open<D extends Database = Database>(
    // biome-ignore lint/suspicious/noConfusingVoidType: `this` is undefined where `open` is called without a class
    this: { readonly prototype: D } | void,
    path: string,
    options?: OpenOptions,
  ): Promise<D> {
    checkPath(path)
    checkOptions('open', options)
    const handle = await openHandle(sharedChannel(), path, options)
    // biome-ignore lint/complexity/noThisInStatic: it is the subclass, or undefined where it is called without a class
    const Class = (this ?? Database) as unknown as new (handle: DatabaseHandle) => D
    return new Class(handle)
  }

  /** @internal */
  static async openOn(channel: Channel, path: string, options?: OpenOptions): Promise<Database> {
    return new Database(await openHandle(channel, path, options))
  }

  /** The path as it was passed to `open`. */
  get path(): string {
    return this.#handle.path
  }

  /** Whether the database is open: false from the moment `close` is called. */
  get open(): boolean {
    return this.#handle.isOpen
  }

  /** Whether the database was opened with `readOnly: true`. */
  get readOnly(): boolean {
    return this.#handle.readOnly
  }

  /**
   * Returns all rows of a query. It runs on a reader thread and sees the latest commit; inside a transaction it runs in
   * the transaction. A statement that would write is refused with the code `RESQLITE_READ_ONLY`.
   *
   * ```ts
   * const users = await db.select<{ id: number; name: string }>('SELECT id, name FROM users WHERE age > ?', [30])
   * const pairs = await db.select('SELECT id, name FROM users', [], { arrays: true })
   * ```
   */
  select<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T[]>
  select<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T[]>
  async select(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown[]> {
    const scope = this.#joined()
    if (scope !== undefined) {
      const start = (target: Target) => startSelect(target, sql, params, options)
      return await scope.statement('select', sql, start, this.#handle)
    }
    const pending = startSelect(this.#handle.usable(), sql, params, options)
    return unwrap(await pending.promise, sql)
  }

  /**
   * Returns the first row of a query, or undefined if there is none. Further rows are not computed.
   *
   * ```ts
   * const user = await db.selectOne('SELECT * FROM users WHERE id = :id', { id: 7 })
   * ```
   */
  selectOne<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: SelectOptions & { arrays: true },
  ): Promise<T | undefined>
  selectOne<T = Row>(sql: string, params?: SqlParams, options?: SelectOptions): Promise<T | undefined>
  async selectOne(sql: string, params?: SqlParams, options?: SelectOptions): Promise<unknown> {
    const scope = this.#joined()
    if (scope !== undefined) {
      const start = (target: Target) => startSelectOne(target, sql, params, options)
      return await scope.statement('selectOne', sql, start, this.#handle)
    }
    const pending = startSelectOne(this.#handle.usable(), sql, params, options)
    return unwrap(await pending.promise, sql)
  }

  /**
   * Returns the rows of a query as a JSON array of objects in UTF-8, encoded on a native thread and ready to be sent.
   * BLOBs become base64 strings; 64-bit integers keep all their digits.
   *
   * ```ts
   * response.end(await db.selectBytes('SELECT * FROM users'))
   * ```
   */
  async selectBytes(sql: string, params?: SqlParams, options?: ReadOptions): Promise<Uint8Array> {
    const scope = this.#joined()
    if (scope !== undefined) {
      const start = (target: Target) => startSelectBytes(target, sql, params, options)
      return await scope.statement('selectBytes', sql, start, this.#handle)
    }
    const pending = startSelectBytes(this.#handle.usable(), sql, params, options)
    return unwrap(await pending.promise, sql)
  }

  /**
   * Iterates over the rows of a query, which all belong to one committed state. At most two batches of rows are in memory.
   *
   * The query starts with the first `next()` and occupies a native thread until the iteration ends. Leaving the loop ends
   * it: `return()` interrupts the query at once, and a `next()` that waits gets `{ done: true }`. Not available inside a
   * transaction.
   *
   * ```ts
   * for await (const row of db.iterate('SELECT * FROM log', [], { batchSize: 500 })) write(row)
   * ```
   */
  iterate<T = Row>(sql: string, params?: SqlParams, options?: IterateOptions): AsyncIterableIterator<T> {
    checkSql(sql)
    checkOptions('iterate', options)
    this.#refuseInTransaction('iterate')
    return new Iteration(new Cursor<T>(this.#handle.usable(), sql, params, options))
  }

  /**
   * Runs one statement that writes. When the promise resolves, it is committed (inside a transaction: executed). Writes
   * that wait at the same time share one commit, and each still succeeds or fails by itself.
   *
   * ```ts
   * const { lastInsertRowid } = await db.execute('INSERT INTO users(name) VALUES (?)', ['Ada'])
   * const { rows } = await db.execute('DELETE FROM jobs WHERE done RETURNING id')
   * ```
   */
  execute<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: ExecuteOptions & { arrays: true },
  ): Promise<WriteResult<T>>
  execute<T = Row>(sql: string, params?: SqlParams, options?: ExecuteOptions): Promise<WriteResult<T>>
  async execute(sql: string, params?: SqlParams, options?: ExecuteOptions): Promise<WriteResult<unknown>> {
    const scope = this.#joined()
    if (scope !== undefined) {
      const start = (target: Target) => startExecute(target, sql, params, options)
      return await scope.statement('execute', sql, start, this.#handle)
    }
    const pending = startExecute(this.#handle.writable('execute'), sql, params, options)
    return unwrap(await pending.promise, sql)
  }

  /**
   * Runs one statement once per parameter set, all or nothing. `changes` is the sum over all sets. The sets must not be
   * modified before the promise settles.
   *
   * ```ts
   * await db.executeBatch('INSERT INTO points(x, y) VALUES (?, ?)', [[1, 2], [3, 4]])
   * ```
   */
  async executeBatch(
    sql: string,
    paramSets: Iterable<SqlParams>,
    options?: AbortOptions,
  ): Promise<WriteResult> {
    const scope = this.#joined()
    if (scope !== undefined) {
      const run = (target: Target, onStart: (request: Pending) => void) =>
        runBatch(target, sql, paramSets, options, onStart)
      return await scope.task('executeBatch', run, this.#handle)
    }
    const handle = this.#handle.writable('executeBatch')
    handle.batchBegan()
    try {
      return await runBatch(handle, sql, paramSets, options)
    } finally {
      handle.batchEnded()
    }
  }

  /**
   * Runs a script of statements. A script takes no parameters: a `?` or `:name` in it is refused. It is all or nothing, unless the script controls transactions itself
   * with `BEGIN`, `COMMIT` and the like.
   *
   * ```ts
   * await db.exec('CREATE TABLE a(x); CREATE TABLE b(y);')
   * ```
   */
  exec(script: string): Promise<void>
  async exec(script: string, parameters?: unknown): Promise<void> {
    const scope = this.#joined()
    if (scope !== undefined) {
      await scope.statement('exec', script, (target) => startExec(target, script, parameters), this.#handle)
      return
    }
    const pending = startExec(this.#handle.writable('exec'), script, parameters)
    unwrap(await pending.promise, script)
  }

  /**
   * Runs `body` in a transaction. It is committed when the body's promise resolves. When the body's promise rejects, it is
   * rolled back, and the call rejects with the body's error. The transaction holds the write lock from before the body
   * starts until it ends.
   *
   * Calls that the body did not await are finished before the commit; if one of them fails, the transaction is rolled back
   * and fails with its error. Inside a transaction, this runs a nested one: see {@link Transaction.transaction}.
   *
   * ```ts
   * await db.transaction(async (tx) => {
   *   await tx.execute('UPDATE accounts SET balance = balance - 10 WHERE id = ?', [from])
   *   await tx.execute('UPDATE accounts SET balance = balance + 10 WHERE id = ?', [to])
   * })
   * ```
   */
  async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const scope = this.#joined()
    if (scope !== undefined) return await nestedTransaction(scope, body, options, this.#handle)
    return await topTransaction(this.#handle.writable('transaction'), body, options)
  }

  /**
   * Runs `body` with a snapshot: all its selects see the same committed state, whatever is written meanwhile. It occupies
   * a native thread until the body has ended. Snapshots and iterators may be opened inside each other. Not available
   * inside a transaction.
   *
   * ```ts
   * const [orders, total] = await db.snapshot(async (snap) => [
   *   await snap.select('SELECT * FROM orders'),
   *   await snap.selectOne('SELECT sum(price) AS total FROM orders'),
   * ])
   * ```
   */
  async snapshot<T>(body: (snapshot: Snapshot) => T | PromiseLike<T>, options?: SnapshotOptions): Promise<T> {
    this.#refuseInTransaction('snapshot')
    return await runSnapshot(this.#handle.usable(), body, options)
  }

  /**
   * Returns a live query: a query whose result is kept up to date. With several queries, their results always belong to
   * the same committed state. Nothing runs until the live query is used: see {@link LiveQuery}. It shows committed data
   * only, inside a transaction too.
   *
   * ```ts
   * const live = db.stream('SELECT * FROM users WHERE active = ?', [1])
   * const stop = live.subscribe((users) => render(users))
   * for await (const users of live) render(users)
   *
   * const both = db.stream({
   *   open: { sql: 'SELECT * FROM tasks WHERE NOT done' },
   *   count: { sql: 'SELECT count(*) AS n FROM tasks' },
   * })
   * for await (const { open, count } of both) render(open, count[0].n)
   * ```
   */
  stream<T = RowArray>(
    sql: string,
    params: SqlParams | undefined,
    options: StreamOptions & { arrays: true },
  ): LiveQuery<T[]>
  stream<T = Row>(sql: string, params?: SqlParams, options?: StreamOptions): LiveQuery<T[]>
  stream<Q extends Readonly<Record<string, Query>>>(
    queries: Q,
    options: StreamOptions & { arrays: true },
  ): LiveQuery<StreamRows<Q, RowArray>>
  stream<Q extends Readonly<Record<string, Query>>>(
    queries: Q,
    options?: StreamOptions,
  ): LiveQuery<StreamRows<Q>>
  stream(first: unknown, second?: unknown, third?: unknown): LiveQuery<unknown> {
    const handle = this.#handle.usable()
    return new LiveQueryObject(handle, planStream(handle.channel, first, second, third))
  }

  /**
   * Explains when a live query of this SQL would be re-run: what it reads, and how precisely commits that do not affect it
   * are recognised. Use it to find out why a live query is re-run more often than expected.
   *
   * ```ts
   * const { tables } = await db.explainStream('SELECT * FROM users WHERE id = ?', [7])
   * tables[0] // { schema: 'main', table: 'users', precision: 'key', conditions: ['id = 7'], … }
   * ```
   */
  async explainStream(sql: string, params?: SqlParams): Promise<StreamExplanation> {
    checkSql(sql)
    const { channel, flags, id } = this.#handle.usable()
    const { EXPLAIN_STREAM } = Op
    const pending = channel.statement(
      EXPLAIN_STREAM,
      flags,
      id,
      sql,
      writeParams,
      params,
      Answer.REPLY,
      false,
    )
    return unwrap(await pending.promise, sql)
  }

  /** Returns the counters of the engine behind this database. */
  async diagnostics(): Promise<Diagnostics> {
    const handle = this.#handle.usable()
    return unwrap(await handle.channel.request(Op.DIAGNOSTICS, handle.flags, handle.id).promise)
  }

  /**
   * Closes the database. Calls that have been made are finished. Open transactions are rolled back at once; they, and open
   * snapshots, iterators and live queries, fail with the code `RESQLITE_CLOSED`, like every later call. Further calls of
   * `close` return the same promise.
   */
  close(): Promise<void> {
    return this.#handle.close()
  }

  /** The same as {@link Database.close}, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Returns the transaction in whose body the caller runs. Another `Database` of the same file may have begun it. */
  #joined(): TransactionScope | undefined {
    const scope = innermost(this.#handle.engine) as TransactionScope | undefined
    if (scope !== undefined && scope.owner !== this.#handle) this.#handle.usable()
    return scope
  }

  #refuseInTransaction(operation: string): void {
    if (this.#joined() === undefined) return
    const message = `${operation} is not available inside a transaction, whose changes it would not see; use tx.select`
    throw new ResqliteError(message, 'RESQLITE_TRANSACTION')
  }
}
