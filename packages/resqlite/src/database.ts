import { Channel } from './channel/channel'
import { DatabaseHandle } from './channel/database-handle'
import { ChangeFeed, dropFeed } from './commits/change-feed'
import { commitEvents, onCommit } from './commits/commit-listener'
import { runBackup, runCheckpoint, runSerialize, upload } from './copies'
import { checkBody, checkFeedName, checkOptions } from './core/checks'
import { asyncDispose } from './core/dispose'
import { TransactionError, typeError } from './core/errors'
import { unwrap } from './core/failure'
import type { ChangeFeedOptions } from './core/feed-types'
import type {
  CommitEvent,
  CommitOptions,
  EventOf,
  LiveIterator,
  LiveQuery,
  LiveQueryInUse,
  StreamExplanation,
  StreamOptions,
  StreamRows,
  Unsubscribe,
} from './core/live-types'
import { type Location, locate } from './core/location'
import { statementOf } from './core/query'
import { innermost } from './core/transaction-context'
import type {
  AbortOptions,
  AnyParams,
  BackupOptions,
  BackupResult,
  BeginOptions,
  Bytes,
  CheckpointMode,
  CheckpointResult,
  CloseOptions,
  Diagnostics,
  EncryptionKey,
  MaybeArrays,
  OpenOptions,
  ParamsOf,
  QueryLike,
  Row,
  RowAs,
  RowsOf,
  SnapshotOptions,
  TransactionOptions,
} from './core/types'
import { keyMessage, runRekey } from './encryption'
import { LiveQueryObject } from './live/live-query'
import { planStream } from './live/stream-plan'
import { liveQueriesOf } from './live-list'
import { Executor } from './statements/executor'
import { handleOf, sessionOf } from './statements/queryable'
import { EXPLAIN_STREAM, start } from './statements/requests'
import { runSnapshot, type Snapshot } from './transactions/snapshot'
import { nestedTransaction, type Transaction, topTransaction } from './transactions/transaction'
import { beginTransaction, type TransactionHandle } from './transactions/transaction-handle'
import type { TransactionScope } from './transactions/transaction-scope'
import { nativeBinding } from './wire/native'
import { INTEGER_FLAGS, Op, RequestFlags } from './wire/protocol'

let shared: Channel | undefined

/** Returns the channel of this realm. */
export function sharedChannel(): Channel {
  shared ??= new Channel(nativeBinding())
  return shared
}

/** Opens a database. `cluster`: the settings of a node, in the form that the native side accepts. */
export async function openHandle(
  channel: Channel,
  location: Location,
  given: OpenOptions = {},
  cluster?: object,
): Promise<DatabaseHandle> {
  const { path, bytes } = location
  const options = { ...given, ...location.options }
  const uploaded = bytes && (await upload(channel, bytes))
  // JSON leaves out options that are undefined, so they count as not given.
  const key = keyMessage(options.key)
  const request = JSON.stringify({ path, upload: uploaded, ...options, key, cluster, integers: undefined })
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
 * on another `Database` of the same file. Once the body has returned or thrown, calls that it left behind run outside of the
 * transaction.
 *
 * A wrong argument causes a `TypeError` or `RangeError` with a `code`. Errors of SQLite and of the engine are
 * {@link ResqliteError}s.
 */
export class Database extends Executor implements AsyncDisposable {
  readonly #handle: DatabaseHandle

  /** Use {@link Database.open}. The constructor of a subclass must pass its arguments on. */
  protected constructor(handle: DatabaseHandle) {
    super()
    if (!(handle instanceof DatabaseHandle)) {
      throw typeError('a database is opened by await Database.open(path), not by new', 'RESQLITE_OPTION')
    }
    this.#handle = handle
  }

  /**
   * Opens a database file, and creates it if it does not exist; its folder must exist. The path `':memory:'` opens a new
   * database in memory. Rejects with an error that names the file and the reason. On a subclass, it returns an object of
   * that class.
   *
   * ```ts
   * const db = await Database.open('app.db', { durability: 'full' })
   * ```
   *
   * A string that begins with `file:` and a `URL` object name the file by a URL: `file:app.db` is relative to the working
   * directory, `file:///srv/app.db` is absolute, and `%20` stands for a space. The parameter `mode` is `ro` (read-only),
   * `rw` (the file must exist), `rwc` (the default) or `memory`. Other parameters are refused.
   *
   * The bytes of a database file, as {@link Database.serialize} returns them, open a new database in memory with that
   * content. They must not be modified before the promise settles. The content of a `-wal` file beside a database file is not
   * in its bytes.
   *
   * ```ts
   * const copy = await Database.open(await db.serialize())
   * ```
   */
  static async open<D extends Database = Database>(
    // biome-ignore lint/suspicious/noConfusingVoidType: `this` is undefined where `open` is called without a class
    this: { readonly prototype: D } | void,
    path: string | URL | Uint8Array,
    options?: OpenOptions,
  ): Promise<D> {
    checkOptions('open', options)
    const handle = await openHandle(sharedChannel(), locate(path, options), options)
    // biome-ignore lint/complexity/noThisInStatic: it is the subclass, or undefined where it is called without a class
    const Class = (this ?? Database) as unknown as new (handle: DatabaseHandle) => D
    return new Class(handle)
  }

  /** @internal */
  static async openOn(channel: Channel, path: string, options?: OpenOptions): Promise<Database> {
    return new Database(await openHandle(channel, { path, options: {} }, options))
  }

  /** The path as it was passed to `open`; for a URL, the path in it. */
  get path(): string {
    return this.#handle.path
  }

  /** True while the database is open: until the moment when `close` is called. */
  get open(): boolean {
    return this.#handle.isOpen
  }

  /** True if the database was opened read-only. */
  get readOnly(): boolean {
    return this.#handle.readOnly
  }

  /**
   * Runs `body` in a transaction. It is committed when the body's promise resolves. When the body's promise rejects, the
   * transaction is rolled back, and the call rejects with the body's error. The transaction holds the write lock from before
   * the body starts until the transaction ends.
   *
   * Calls that the body did not await are finished before the commit; if one of them fails, the transaction is rolled back
   * and fails with the error of that call. Inside a transaction, this runs a nested transaction: see
   * {@link Transaction.transaction}.
   *
   * ```ts
   * await db.transaction(async (tx) => {
   *   await tx.execute('UPDATE accounts SET balance = balance - 10 WHERE id = ?', [from])
   *   await tx.execute('UPDATE accounts SET balance = balance + 10 WHERE id = ?', [to])
   * })
   * ```
   */
  override async transaction<T>(
    body: (tx: Transaction) => T | PromiseLike<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const scope = this[sessionOf]
    if (scope !== undefined) return await nestedTransaction(scope, body, options, this.#handle)
    return await topTransaction(this.#handle.writable('transaction'), body, options)
  }

  /**
   * Begins a transaction, and returns it once it holds the write lock: for programs that cannot put their calls into the body
   * of {@link Database.transaction}, such as query builders. The transaction is rolled back after 60 seconds, unless
   * `timeout` says otherwise. Not available inside the body of a transaction.
   *
   * ```ts
   * await using tx = await db.begin()
   * await tx.execute('UPDATE accounts SET balance = balance - 10 WHERE id = ?', [from])
   * await tx.execute('UPDATE accounts SET balance = balance + 10 WHERE id = ?', [to])
   * await tx.commit() // without it, the end of the block rolls back
   * ```
   */
  async begin(options?: BeginOptions): Promise<TransactionHandle> {
    this.#refuseInTransaction('begin', 'whose end it would wait for; use tx.transaction')
    return await beginTransaction(this.#handle.writable('begin'), options)
  }

  /**
   * Runs `body` with a snapshot: all its selects see the same committed state, whatever is written meanwhile. The snapshot
   * has a connection until the body has ended, and needs a thread only while it is at work. Snapshots and iterators may be
   * opened inside each other. Not available inside a transaction.
   *
   * ```ts
   * const [orders, total] = await db.snapshot(async (snap) => [
   *   await snap.select('SELECT * FROM orders'),
   *   await snap.selectOne('SELECT sum(price) AS total FROM orders'),
   * ])
   * ```
   */
  async snapshot<T>(body: (snapshot: Snapshot) => T | PromiseLike<T>, options?: SnapshotOptions): Promise<T> {
    this.#refuseInTransaction('snapshot', 'whose changes it would not see; use tx.select')
    return await runSnapshot(this.#handle.usable(), body, options)
  }

  /**
   * Returns a live query: a query whose result is kept up to date. With several queries, their results always belong to the
   * same committed state. Nothing runs until the live query is used: see {@link LiveQuery}. It shows committed data only,
   * even inside a transaction.
   *
   * ```ts
   * const live = db.stream('SELECT * FROM users WHERE active = ?', [1])
   * const stop = live.subscribe((users) => render(users))
   * for await (const users of live) render(users)
   *
   * const both = db.stream({
   *   open: { sql: 'SELECT * FROM tasks WHERE list = ?', params: [7] },
   *   count: 'SELECT count(*) AS n FROM tasks',
   * })
   * for await (const { open, count } of both) render(open, count[0].n)
   * ```
   */
  stream<T = Row, P extends ParamsOf<P> = AnyParams, A extends boolean | undefined = false>(
    sql: string,
    params?: P,
    options?: MaybeArrays<StreamOptions, A>,
  ): LiveQuery<RowAs<T, A>[]>
  stream<T = never, Q extends QueryLike = QueryLike, A extends boolean | undefined = false>(
    query: Q,
    options?: MaybeArrays<StreamOptions, A>,
  ): LiveQuery<RowsOf<T, Q, RowAs<Row, A>>>
  stream<Q extends Readonly<Record<string, string | QueryLike>>, A extends boolean | undefined = false>(
    queries: Q,
    options?: MaybeArrays<StreamOptions, A>,
  ): LiveQuery<StreamRows<Q, RowAs<Row, A>>>
  stream(first: unknown, second?: unknown, third?: unknown): LiveQuery<unknown> {
    const handle = this.#handle.usable()
    return new LiveQueryObject(handle, planStream(handle.channel, first, second, third))
  }

  /**
   * Explains when a live query of this SQL would be re-run. Says what it reads, and how precisely commits that do not affect
   * it are recognised. Use it to find out why a live query is re-run more often than expected.
   *
   * ```ts
   * const { tables } = await db.explainStream('SELECT * FROM users WHERE id = ?', [7])
   * tables[0] // { schema: 'main', table: 'users', precision: 'key', conditions: ['id = 7'], … }
   * ```
   */
  explainStream<P extends ParamsOf<P> = AnyParams>(
    sql: string,
    params?: P,
    options?: AbortOptions,
  ): Promise<StreamExplanation>
  explainStream(query: QueryLike, options?: AbortOptions): Promise<StreamExplanation>
  async explainStream(first: unknown, second?: unknown, third?: unknown): Promise<StreamExplanation> {
    const { sql, params, options } = statementOf(first, second, third)
    const target = this.#handle.usable()
    const pending = start(EXPLAIN_STREAM, target, sql, params, options as AbortOptions, false)
    return unwrap(await pending.promise, sql)
  }

  /**
   * Lists the live queries in use by all `Database` objects of this thread that share the engine. Live queries of other
   * threads are only counted, in {@link Diagnostics}. Use the list to find live queries that re-run more often than they
   * should.
   *
   * ```ts
   * const busiest = db.liveQueries().sort((a, b) => b.stats.totalMicros - a.stats.totalMicros)[0]
   * if (busiest) console.log(busiest.sql, busiest.stats, await busiest.explain())
   * ```
   */
  liveQueries(): LiveQueryInUse[] {
    return liveQueriesOf(this.#handle.usable())
  }

  /**
   * Calls `callback` with the changes of each commit to the file, whoever made it, as soon as reads see the commit. Work that
   * is rolled back is not reported. If the callback returns a promise, the next event waits for it, and contains all commits
   * since then. Returns a function that ends the listening. Closing the database ends it, too.
   *
   * With the `detail` `'rows'` or `'keys'`, events also report the rows: see {@link ChangedRow}. To keep a copy of a table up
   * to date, apply each change to the row with its key.
   *
   * Whatever the callback throws becomes an uncaught exception, except the error of a call that the callback made too late,
   * after the database was closed. Listening keeps the process alive. Events that were not reported when the listening ends
   * are lost.
   *
   * ```ts
   * const stop = db.onCommit(({ to, tables }) => console.log(to, tables))
   * ```
   */
  onCommit<D extends CommitOptions['detail'] = 'tables'>(
    callback: (event: EventOf<D>) => unknown,
    options?: CommitOptions | (CommitOptions & { detail: D }),
  ): Unsubscribe {
    checkBody('onCommit', callback)
    checkOptions('onCommit', options)
    return onCommit(this.#handle.usable(), callback as (event: CommitEvent) => unknown, options)
  }

  /**
   * Iterates over the same events as `onCommit`, from the first `next` on. A slow consumer gets all commits since its last
   * event as one event. Closing the database ends the iteration with the code `RESQLITE_CLOSED`.
   *
   * ```ts
   * for await (const { from, to, tables } of db.commits()) invalidate(tables)
   * ```
   */
  commits<D extends CommitOptions['detail'] = 'tables'>(
    options?: CommitOptions | (CommitOptions & { detail: D }),
  ): LiveIterator<EventOf<D>> {
    checkOptions('commits', options)
    return commitEvents(this.#handle.usable(), options) as LiveIterator<EventOf<D>>
  }

  /**
   * Opens a change feed, which contains each commit to the main database, in order, with all its rows. `name` is the name of
   * its consumer. Commits are kept in the database, in the same transaction, until the consumer has acknowledged them by
   * asking for the next one. So none is missed, even if the process is killed: a consumer that returns begins with the commit
   * that it was processing.
   *
   * ```ts
   * for await (const { operations } of db.feed('search-index', { tables: ['articles'] })) {
   *   for (const change of operations) if (change.operation !== 'schema') await index(change.key, change.new)
   * }
   * ```
   *
   * A new feed begins with the next commit. Writes of other programs, and SQL that manages transactions itself, appear as a
   * {@link FeedCommit.gap}. If the consumer stays away until commits that it has not read are not kept any more
   * ({@link ChangeFeedOptions.keep}), the iteration rejects with the code `RESQLITE_FEED_LOST`. Not available inside a
   * transaction.
   */
  feed(name: string, options?: ChangeFeedOptions): ChangeFeed {
    checkFeedName('feed', name)
    checkOptions('feed', options)
    this.#refuseInTransaction('feed', HOLDS_WRITER)
    return new ChangeFeed(this.#handle.writable('feed'), name, options)
  }

  /**
   * Removes the change feed of this name, so that no commits are kept for it any more. If there is none, nothing happens.
   *
   * ```ts
   * await db.dropFeed('search-index')
   * ```
   */
  async dropFeed(name: string): Promise<void> {
    checkFeedName('dropFeed', name)
    this.#refuseInTransaction('dropFeed', HOLDS_WRITER)
    await dropFeed(this.#handle.writable('dropFeed'), name)
  }

  /** Returns the counters of the engine behind this database. */
  async diagnostics(): Promise<Diagnostics> {
    const handle = this.#handle.usable()
    return unwrap(await handle.channel.request(Op.DIAGNOSTICS, handle.flags, handle.id).promise)
  }

  /**
   * Copies the database into a file while others read and write it. The copy has its own connection, so that neither reads
   * nor writes wait. The copy is one committed state, without attached databases and temporary tables.
   *
   * The file gets its name when it is complete, checked and on the disk. Until then, its name has a suffix that ends in
   * `.partial`; after an error or an abort, nothing is left of it. Rejects with the code `RESQLITE_BACKUP`, or a code of
   * SQLite, and a message that names the file. A database that is open in this process is refused as the target. Not
   * available inside a transaction.
   *
   * As long as pages are copied, the write-ahead log cannot be reset and grows with every write.
   *
   * Before a copy takes the place of a database, even by `overwrite`, delete the `-wal` and `-shm` files of that database.
   * Otherwise its log would be written into the copy.
   *
   * ```ts
   * const { bytes, commit } = await db.backup('backup.db', {
   *   overwrite: true,
   *   progress: ({ done, total }) => console.log(`${done} of ${total} pages`),
   * })
   * ```
   */
  async backup(path: string | URL, options?: BackupOptions): Promise<BackupResult> {
    const handle = this.#handle.usable()
    this.#refuseInTransaction('backup', NOT_CONTAINED)
    return await runBackup(handle, path, options)
  }

  /**
   * Returns the bytes of a database file with the latest committed state of the main database, without attached databases.
   * The bytes are made on a native thread. A database of more than 2 GiB is refused with a {@link LimitError}. Not available
   * inside a transaction.
   *
   * ```ts
   * await writeFile('copy.db', await db.serialize())
   * ```
   */
  async serialize(options?: AbortOptions): Promise<Bytes> {
    const handle = this.#handle.usable()
    this.#refuseInTransaction('serialize', NOT_CONTAINED)
    return await runSerialize(handle, options)
  }

  /**
   * Copies the write-ahead log into the database file. The engine does this by itself unless the option `checkpoints` says
   * otherwise. It waits neither for snapshots and iterators nor for other processes: if they prevent a part of the
   * checkpoint, the result says `busy: true`. Attached databases are left out. Not available inside a transaction.
   *
   * ```ts
   * const { busy } = await db.checkpoint('truncate')
   * ```
   */
  async checkpoint(mode: CheckpointMode = 'passive'): Promise<CheckpointResult> {
    const handle = this.#handle.writable('checkpoint')
    this.#refuseInTransaction('checkpoint', HOLDS_WRITER)
    return await runCheckpoint(handle, mode)
  }

  /**
   * Encrypts an encrypted database with another key. Reads and writes wait meanwhile, and then go on with the new key, as
   * live queries do. The call writes the whole database to the write-ahead log once. When the promise resolves, the new key
   * is on the disk. After a crash before that, one of the two keys opens all data, and the other key opens nothing.
   *
   * ```ts
   * await db.rekey('another passphrase')
   * ```
   *
   * It rejects with the code `RESQLITE_ENCRYPTION_KEY`, and the key stays as it was, if the database is not encrypted, while
   * a snapshot, an iterator, a backup or another process reads it, or while databases are attached. Other processes that have
   * the file open, and objects with `readOnly`, must open it again with the new key. Not available inside a transaction.
   */
  async rekey(key: EncryptionKey): Promise<void> {
    const handle = this.#handle.writable('rekey')
    this.#refuseInTransaction('rekey', HOLDS_WRITER)
    await runRekey(handle, key)
  }

  /**
   * Closes the database. Calls that have been made are finished, backups included. Open transactions are rolled back at
   * once; they, and open snapshots, iterators and live queries, fail with the code `RESQLITE_CLOSED`, like every later
   * call. Further calls of `close` return the same promise.
   *
   * With a `timeout`, calls that have not ended by then are interrupted and fail with `RESQLITE_CLOSED`. Acknowledged writes
   * stay; a write that fails was undone as a whole. A later call can add a timeout.
   *
   * ```ts
   * await db.close({ timeout: 2000 })
   * ```
   */
  close(options?: CloseOptions): Promise<void> {
    try {
      checkOptions('close', options)
    } catch (error) {
      return Promise.reject(error)
    }
    return this.#handle.close(options?.timeout)
  }

  /** Closes the database like {@link Database.close}, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.close()
  }

  /** @internal */
  override get [handleOf](): DatabaseHandle {
    return this.#handle
  }

  /** @internal The transaction in whose body the caller runs. Another `Database` of the same file may have begun it. */
  override get [sessionOf](): TransactionScope | undefined {
    return innermost(this.#handle.engine) as TransactionScope | undefined
  }

  /** Throws if the caller runs in the body of a transaction. The error gives the reason `why`. */
  #refuseInTransaction(operation: string, why: string): void {
    const scope = this[sessionOf]
    if (scope === undefined) return
    if (scope.owner !== this.#handle) this.#handle.usable()
    throw new TransactionError(`${operation} is not available inside a transaction, ${why}`, operation)
  }
}

const HOLDS_WRITER = 'which holds the writer'
const NOT_CONTAINED = 'whose changes it would not contain'
