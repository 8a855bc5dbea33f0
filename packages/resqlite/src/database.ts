import { runBatch } from './batch'
import { Channel } from './channel/channel'
import { Handle } from './channel/database-handle'
import { Answer, type Pending } from './channel/pending'
import { countEmissions } from './channel/profile-binding'
import { checkOptions, checkPath, checkSql } from './core/checks'
import { asyncDispose } from './core/dispose'
import { ResqliteError } from './core/errors'
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
import { Live } from './live/live-query'
import { SharedStream } from './live/shared-query'
import { planStream } from './live/stream-plan'
import {
  startExec,
  startExecute,
  startSelect,
  startSelectBytes,
  startSelectOne,
  type Target,
  unwrap,
} from './requests'
import { runSnapshot, type Snapshot } from './snapshot'
import { nestedTransaction, type Transaction, topTransaction } from './transaction'
import type { Scope } from './transaction-scope'
import { type NativeBinding, nativeBinding } from './wire/native'
import { writeParams } from './wire/params'
import { Flag, INTEGER_FLAGS, Op } from './wire/protocol'

let shared: Channel | undefined

/** The channel of this realm. */
function sharedChannel(): Channel {
  shared ??= openChannel(nativeBinding())
  return shared
}

function openChannel(binding: NativeBinding): Channel {
  countEmissions(binding, SharedStream.prototype)
  return new Channel(binding)
}

async function openHandle(channel: Channel, path: string, options: OpenOptions = {}): Promise<Handle> {
  // Options that are undefined vanish in JSON, which is what "not given" means.
  const request = JSON.stringify({ path, ...options, integers: undefined })
  const pending = channel.request(Op.OPEN, 0, 0, (writer) => writer.text(request))
  const { handle, engine } = unwrap<{ handle: number; engine: number }>(await pending.promise)
  const durability = options.durability === 'full' ? Flag.FULL : 0
  const flags = INTEGER_FLAGS[options.integers ?? 'auto'] | durability
  return new Handle(channel, handle, engine, flags, path, options.readOnly === true)
}

/**
 * A SQLite database whose queries and writes run on native threads.
 *
 * ```ts
 * const db = await Database.open('app.db')
 * await db.execute('INSERT INTO users(name) VALUES (?)', ['Ada'])
 * const users = await db.select('SELECT * FROM users WHERE name = ?', ['Ada'])
 * await db.close()
 * ```
 *
 * Inside the body of {@link Database.transaction}, calls on the database, or on another object that has the same file
 * open, join that transaction; once the body has returned or thrown, calls that it left behind run on their own.
 */
export class Database implements AsyncDisposable {
  readonly #handle: Handle

  /** Databases are made by {@link Database.open}. The constructor of a subclass hands on what it is given. */
  protected constructor(handle: Handle) {
    this.#handle = handle
  }

  /**
   * Opens a database file, or creates it. `':memory:'` makes a new database in memory. Fails with an error that
   * names the file and the reason. A subclass opens databases of its own class.
   */
  static async open<D extends Database = Database>(
    // biome-ignore lint/suspicious/noConfusingVoidType: nothing where it is called without a class
    this: { readonly prototype: D } | void,
    path: string,
    options?: OpenOptions,
  ): Promise<D> {
    checkPath(path)
    checkOptions('open', options)
    const handle = await openHandle(sharedChannel(), path, options)
    // biome-ignore lint/complexity/noThisInStatic: it is the subclass, or undefined where it is called without a class
    const Class = (this ?? Database) as unknown as new (handle: Handle) => D
    return new Class(handle)
  }

  /** @internal */
  static async openOn(channel: Channel, path: string, options?: OpenOptions): Promise<Database> {
    return new Database(await openHandle(channel, path, options))
  }

  /** The path as it was given to `open`. */
  get path(): string {
    return this.#handle.path
  }

  /** False from the moment `close` is called. */
  get open(): boolean {
    return this.#handle.isOpen
  }

  /** Opened without the right to write. */
  get readOnly(): boolean {
    return this.#handle.readOnly
  }

  /**
   * All rows of a query.
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
   * The first row of a query, or undefined if there is none.
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
   * The rows as a JSON array of objects in UTF-8, made on a native thread: ready to be sent. BLOBs are base64,
   * 64-bit integers have all their digits.
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
   * The rows of a query one by one, all from one committed state, with at most two batches in memory. It starts with
   * the first `next()` and occupies a thread until it ends; leaving the loop ends it. `return()` interrupts the query at
   * once; a `next()` under way is told that it is over. Not inside a transaction.
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
   * Runs one statement that writes. It is committed when the promise resolves.
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
   * Runs one statement with many sets of parameters, all or nothing. The sets must not be changed before the
   * promise settles. `changes` is the sum over all sets.
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
    handle.batchBegins()
    try {
      return await runBatch(handle, sql, paramSets, options)
    } finally {
      handle.batchEnded()
    }
  }

  /**
   * Runs a script of statements without parameters, all or nothing unless it controls transactions itself.
   *
   * ```ts
   * await db.exec('CREATE TABLE a(x); CREATE TABLE b(y);')
   * ```
   */
  async exec(script: string): Promise<void> {
    const scope = this.#joined()
    if (scope !== undefined) {
      await scope.statement('exec', script, (target) => startExec(target, script), this.#handle)
      return
    }
    const pending = startExec(this.#handle.writable('exec'), script)
    unwrap(await pending.promise, script)
  }

  /**
   * Runs `body` in a transaction: committed when the body's promise resolves, rolled back when it rejects, and then
   * the body's error is what the caller gets. The write lock is held from before the body starts to the end.
   *
   * A statement that the body did not await is waited for before the commit; if it fails, the transaction fails with
   * its error. Inside a transaction this is a nested one, see {@link Transaction.transaction}.
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
   * Several selects on one committed state, whatever is written meanwhile. Snapshots and iterators may be opened inside
   * of each other. Not inside a transaction.
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
   * A query whose result is kept up to date, or several of them whose results are always of one and the same state.
   * Nothing runs until it is used: see {@link LiveQuery}. It shows what is committed, also inside a transaction.
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
    return new Live(handle, planStream(handle.channel, first, second, third))
  }

  /**
   * When a live query would be run again: what it reads, and how closely commits that do not concern it are told
   * apart. To find out why a stream runs more often than it should.
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

  /** Counters of the engine behind this database. */
  async diagnostics(): Promise<Diagnostics> {
    const handle = this.#handle.usable()
    return unwrap(await handle.channel.request(Op.DIAGNOSTICS, handle.flags, handle.id).promise)
  }

  /**
   * Closes the database. Requests in flight are finished; open transactions are rolled back at once, and they and
   * open iterators and live queries fail with the code `RESQLITE_CLOSED`, as does every later call. Closing twice is
   * fine.
   */
  close(): Promise<void> {
    return this.#handle.close()
  }

  /** The same as {@link Database.close}, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The transaction on this file in whose body the caller runs; another object on the file may have begun it. */
  #joined(): Scope | undefined {
    const scope = innermost(this.#handle.engine) as Scope | undefined
    if (scope !== undefined && scope.owner !== this.#handle) this.#handle.usable()
    return scope
  }

  #refuseInTransaction(operation: string): void {
    if (this.#joined() === undefined) return
    const message = `${operation} would not see what the transaction has written; use tx.select`
    throw new ResqliteError(message, 'RESQLITE_TRANSACTION')
  }
}
