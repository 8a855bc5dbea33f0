import type { StreamSums } from './counters'
import type { rowType } from './row-type'
import type { Utf8 } from './utf8'

/** A value that can be passed as a parameter. Booleans are stored as 1 and 0, and a `Uint8Array` is a BLOB. */
export type SqlValue = null | number | bigint | string | boolean | Uint8Array | Utf8

/**
 * Bytes with a buffer of their own, which `fetch` and `Response` take as a body: `Uint8Array<ArrayBuffer>`, or `Uint8Array` for
 * TypeScript before 5.7.
 */
export type Bytes = ReturnType<Uint8ArrayConstructor['of']>

/**
 * The parameters of one statement: an array for `?` and `?1`, or a plain object for `:name`, `@name` and `$name`. The keys of
 * the object may have the prefix or leave it out.
 *
 * ```ts
 * await db.select('SELECT * FROM users WHERE id = ?', [7])
 * await db.select('SELECT * FROM users WHERE id = :id', { id: 7 })
 * ```
 */
export type SqlParams = readonly SqlValue[] | Readonly<Record<string, SqlValue>>

/** Parameters whose type has a name, such as an interface: an array or an object, all of whose values can be bound. */
export type ParamsOf<P> = object & { readonly [K in keyof P]: SqlValue }

/**
 * The parameters of a query object, and of a call that names the type of its rows, as `select<User>(…)` does. TypeScript then
 * does not look at the values of an object whose type has a name, such as an interface. They are checked when the call is
 * made.
 */
export type AnyParams = SqlParams | (object & { readonly length?: never })

/**
 * A query: SQL and parameters. The type argument is the type of its rows. The tag `sql` makes one.
 *
 * ```ts
 * const open: Query<{ id: number; title: string }> = { sql: 'SELECT id, title FROM tasks WHERE NOT done' }
 * const tasks = await db.select(open)
 * const board = db.stream({ open, people: { sql: 'SELECT * FROM people WHERE team = ?', params: [3] } })
 * ```
 */
export interface Query<T = unknown> {
  /** The SQL text: one statement. */
  readonly sql: string
  /** Its parameters. Default: none. */
  readonly params?: AnyParams | undefined
  /** Does not exist: it only carries the type of the rows. */
  readonly [rowType]?: T
}

/** A query of a builder that compiles, such as Kysely. */
export interface CompilableQuery {
  /** Returns the SQL text and the parameters. */
  compile(): { readonly sql: string; readonly parameters: readonly unknown[] }
}

/** A query of a builder that returns its SQL, such as Drizzle or Knex. */
export interface ToSqlQuery {
  /** Returns the SQL text and the parameters. */
  toSQL(): { readonly sql: string }
}

/**
 * A query that can be passed in place of SQL and parameters. The values of builders are checked when the call is made. Rows
 * are as SQLite returns them, without the changes that a builder would make to them afterwards. A builder's query that reads,
 * and has two columns of the same name, is refused with the code `RESQLITE_RESULT`, unless rows are arrays.
 */
export type QueryLike = Query | CompilableQuery | ToSqlQuery

/** The type of the rows of a call: `T` if the call names it, or else the row type of the {@link Query}, or else `Other`. */
export type RowsOf<T, Q, Other> = [T] extends [never]
  ? Q extends Query<infer R>
    ? unknown extends R
      ? Other[]
      : R[]
    : Other[]
  : T[]

/** A value of a result row. A BLOB is a `Buffer` that belongs to the caller. */
export type ColumnValue = null | number | bigint | string | Uint8Array

/** A result row with the column names as keys. If two columns have the same name, the last one wins. */
export type Row = Record<string, ColumnValue>

/** A result row as an array of its values, in the order of the columns. */
export type RowArray = ColumnValue[]

/** Options of type `O`. `A` is the type of their `arrays`, as far as the call shows it. */
export type MaybeArrays<O, A> = O | (O & { arrays: A })

/** The type of a row, by the type of `arrays`: `T`, or {@link RowArray} where rows are arrays and the call does not name `T`. */
export type RowAs<T, A> = A extends true ? (Row extends T ? RowArray : T) : T

/** The type in which integers are returned: see {@link OpenOptions.integers}. */
export type Integers = 'auto' | 'number' | 'bigint'

/** A value of a pragma. */
export type PragmaValue = string | number | boolean

/** Options of {@link Database.open}. */
export interface OpenOptions {
  /** Opens the file read-only. It must exist. Default: `false`. */
  readOnly?: boolean | undefined
  /**
   * Reads a file that nobody changes while it is open, without locks and without files beside it. So a database with a
   * write-ahead log can be read where nothing can be written, such as a read-only mount. It needs `readOnly: true`, and is
   * refused while a journal beside the file may have commits that the file lacks. The same process cannot open the file in
   * another way meanwhile. If others change the file nevertheless, results may be wrong. Default: `false`.
   */
  immutable?: boolean | undefined
  /**
   * The largest number of calls that read at the same time, from 1 to 64; each such call has its own connection. Default: the
   * number of cores − 1, but at least 2 and at most 4.
   */
  readers?: number | undefined
  /**
   * `'normal'` (default): a commit survives a crash of the process; the last commits may be lost when the machine loses
   * power. `'full'`: every commit is on the disk before its promise resolves.
   */
  durability?: 'normal' | 'full' | undefined
  /** The longest time that a write waits for a lock of another process, in milliseconds. Default: 5000. */
  busyTimeout?: number | undefined
  /** Enforces foreign keys. Default: `true`. */
  foreignKeys?: boolean | undefined
  /**
   * The type in which integers are returned. `'auto'` (default): a number if that is exact, else a bigint. `'number'`: always
   * a number; an integer that a number cannot represent exactly causes an error that names the column. `'bigint'`: always a
   * bigint.
   */
  integers?: Integers | undefined
  /** The number of prepared statements that each connection keeps, from 1 to 65,535. Default: 128. */
  statementCacheSize?: number | undefined
  /** Pragmas that are set on every connection, for example `{ cache_size: -8000 }`. Default: none. */
  pragmas?: Readonly<Record<string, PragmaValue>> | undefined
  /**
   * Re-runs live queries after commits by other processes. While there are live queries, the engine then looks for such
   * commits. Default: `true`.
   */
  watchExternal?: boolean | undefined
  /** Lets quick queries run on the calling thread, within hard bounds. Only on Linux. Default: `true`. */
  inline?: boolean | undefined
  /**
   * The milliseconds without use after which the connections to the file close, from 1. The next use opens them again, and live
   * queries go on: they see what other processes commit meanwhile. `false`: they stay open. Default: they close after a minute
   * while more than 100 files are open in the process; the first 100 stay open. On Linux only.
   */
  rest?: number | false | undefined
  /**
   * Lets views, triggers, CHECK constraints and the like use functions and virtual tables that can do harm.
   * Default: `false`.
   */
  trustedSchema?: boolean | undefined
  /**
   * Refuses SQL that can damage the file: writes to the shadow tables of virtual tables, and to the schema table.
   * Default: `true`.
   */
  defensive?: boolean | undefined
  /**
   * Reads a name in double quotes as a text if no table or column has this name, as in `WHERE name = "Ada"`. The option is
   * for SQL that was written for other drivers: a misspelt column then is a text, too, and no error. Default: `false`.
   */
  doubleQuotedStrings?: boolean | undefined
  /**
   * For files or SQL that you do not trust. The file is checked for damage before it is used (`PRAGMA quick_check`, which
   * reads all of it), the size and complexity of SQL are limited, and no file can be attached. See SECURITY.md. Default:
   * `false`.
   */
  untrusted?: boolean | undefined
  /**
   * Extensions of SQLite in shared libraries: paths, or objects that also name the entry point. Every connection loads them,
   * in this order. The suffix of the file may be missing; a relative path starts at the working directory. An extension runs
   * as part of the program and must be trusted like it. SQL cannot load any. Default: none.
   */
  extensions?: readonly (string | Extension)[] | undefined
  /** Makes `open` fail if the file does not exist, instead of creating it. Default: `false`. */
  fileMustExist?: boolean | undefined
  /**
   * The program part that copies the write-ahead log into the database file. `'auto'` (default): the engine, which also keeps
   * the log from growing without end. `'passive'`: the engine, but it never holds reads back to reset the log, and never
   * truncates it. `'manual'`: nobody but {@link Database.checkpoint} and other programs, such as Litestream; `close` leaves
   * the log beside the file.
   */
  checkpoints?: 'auto' | 'passive' | 'manual' | undefined
  /**
   * The key of an encrypted database; a new file is encrypted with it. A string is a passphrase, from which the key is
   * derived; a `Uint8Array` of 32 bytes is the key itself. It needs the package `@resqlite/ciphers`. See
   * docs/encryption.md. Default: none.
   */
  key?: EncryptionKey | undefined
}

/** The key of an encrypted database: a passphrase, or 32 bytes. */
export type EncryptionKey = string | Uint8Array

/** An extension of SQLite: see {@link OpenOptions.extensions}. */
export interface Extension {
  /** The file. */
  path: string
  /** The function that registers what the extension provides. Default: SQLite finds it by the name of the file. */
  entryPoint?: string | undefined
}

/** Options of {@link Database.backup}. */
export interface BackupOptions {
  /** Cancels the backup. When the promise rejects with an {@link AbortError}, nothing is left of the file. */
  signal?: AbortSignal | undefined
  /**
   * Called with the progress: after the first part and at the end, and up to five times per second between them. If it
   * throws, the backup is cancelled and rejects with the thrown value; a file that was complete already stays.
   */
  progress?: ((progress: BackupProgress) => void) | undefined
  /**
   * Replaces a file that exists. The copy gives others no permission that the replaced file did not give. Default: `false`,
   * such a file is refused.
   */
  overwrite?: boolean | undefined
  /**
   * The check of the copy before it gets its name: `'full'` (default) is `PRAGMA integrity_check`, `'quick'` is
   * `PRAGMA quick_check`, which does not compare indexes with their tables, `'off'` is no check.
   */
  verify?: 'full' | 'quick' | 'off' | undefined
}

/** The progress of a backup: see {@link BackupOptions.progress}. */
export interface BackupProgress {
  /** The number of pages copied. */
  done: number
  /** The number of pages of the database. */
  total: number
}

/** The result of {@link Database.backup}. */
export interface BackupResult {
  /** The size of the file in bytes. */
  bytes: number
  /** The number of its pages. */
  pages: number
  /** The copy holds the commit of this number and all before it; see {@link WriteResult.commit}. */
  commit: number
}

/**
 * The extent of a checkpoint. `'passive'` copies what no reader needs in the log, and neither reads nor writes wait.
 * `'full'` copies everything; writes wait meanwhile, and new reads for up to 50 ms. `'restart'`: the next commit also
 * starts the log over. `'truncate'`: the log is also truncated to nothing.
 */
export type CheckpointMode = 'passive' | 'full' | 'restart' | 'truncate'

/** The result of {@link Database.checkpoint}. */
export interface CheckpointResult {
  /** True if a reader, a writer or another checkpoint prevented a part of the checkpoint. */
  busy: boolean
  /** The number of pages in the log; 0 after `'truncate'`. */
  logPages: number
  /** The number of pages in the log that are in the database file, too. */
  checkpointedPages: number
}

/** Options of {@link Database.close}. */
export interface CloseOptions {
  /**
   * The time in milliseconds after which calls that have not ended are interrupted. They reject with the code
   * `RESQLITE_CLOSED`; a write that rejects was undone. Default: they may take as long as they need.
   */
  timeout?: number | undefined
}

/** Options of calls that can be cancelled. */
export interface AbortOptions {
  /**
   * Cancels the call. A read rejects at once with an {@link AbortError}. A write is interrupted, and its promise says what
   * happened: it rejects with an {@link AbortError} if the write was undone, and resolves if it was too late for that.
   */
  signal?: AbortSignal | undefined
}

/**
 * Limits of what one query may cost, for SQL that users write. A query that exceeds a limit rejects with a
 * {@link LimitError}; other queries are not affected. Default: no limits.
 *
 * ```ts
 * await db.select(sqlOfUser, [], { limits: { time: 200, bytes: 10_000_000 } })
 * ```
 */
export interface QueryLimits {
  /**
   * The time that the statement may run, in milliseconds. Waiting for its turn, or for the caller between two batches of
   * `iterate`, does not count.
   */
  time?: number | undefined
  /**
   * The number of steps of SQLite's virtual machine, checked every 1,000. The same query takes the same number of steps on
   * the same data.
   */
  steps?: number | undefined
  /** The size of the result in bytes: its text and BLOBs, and a few bytes per value. Checked about every 100 KiB. */
  bytes?: number | undefined
}

/** Options of reads. */
export interface ReadOptions extends AbortOptions {
  /**
   * Cancels the call, which rejects at once with an {@link AbortError}. A `query` that writes settles when SQLite has stopped,
   * and resolves if it was too late.
   */
  signal?: AbortSignal | undefined
  /** The limits of what the query may cost. Default: no limits. */
  limits?: QueryLimits | undefined
}

/** Options of {@link Executor.execute}. */
export interface ExecuteOptions extends AbortOptions {
  /** Returns rows as arrays of values instead of objects. Default: `false`. */
  arrays?: boolean | undefined
}

/** Options of {@link Queryable.select} and {@link Queryable.selectOne}. */
export interface SelectOptions extends ReadOptions {
  /** Returns rows as arrays of values instead of objects. Default: `false`. */
  arrays?: boolean | undefined
}

/** Options of {@link Queryable.iterate}. */
export interface IterateOptions extends ReadOptions {
  /** Returns rows as arrays of values instead of objects. Default: `false`. */
  arrays?: boolean | undefined
  /** The number of rows that are fetched at a time, from 1 to 1,000,000. Default: 1000. */
  batchSize?: number | undefined
}

/** Options of {@link Database.transaction}. */
export interface TransactionOptions {
  /** Rolls the transaction back. The promise rejects with an {@link AbortError}. */
  signal?: AbortSignal | undefined
  /**
   * The time in milliseconds after which the transaction is rolled back. The promise rejects with the code
   * `RESQLITE_TIMEOUT`. It counts from the moment when the transaction gets the write lock. Default: no timeout.
   */
  timeout?: number | undefined
  /**
   * `false` switches foreign keys off for this transaction, so that a table to which other tables refer can be rebuilt: with
   * foreign keys on, `DROP TABLE` deletes the rows that refer to it. Before the commit all foreign keys of the database are
   * checked. If a foreign key does not hold, whoever violated it, the commit fails with `SQLITE_CONSTRAINT_FOREIGNKEY`, the
   * error names the rows, and the transaction is rolled back. Not for nested transactions. Without effect in a database that
   * was opened with `foreignKeys: false`. Default: as the database was opened.
   */
  foreignKeys?: false | undefined
}

/** Options of {@link Database.begin}. */
export interface BeginOptions extends Omit<TransactionOptions, 'timeout' | 'signal'> {
  /**
   * Rolls the transaction back. `begin`, or the call of the transaction that is running, rejects with an {@link AbortError};
   * later calls reject with a {@link TransactionError} whose `cause` is this error.
   */
  signal?: AbortSignal | undefined
  /**
   * The time in milliseconds after which the transaction is rolled back. It counts from the moment when the transaction gets
   * the write lock. Default: `60000`. Nobody else can write while the transaction is open, so there is always a timeout: it
   * ends a transaction that was forgotten. A call that is running then rejects with the code `RESQLITE_TIMEOUT`; a later call
   * rejects with that code, or with a {@link TransactionError} that says so.
   */
  timeout?: number | undefined
}

/** Options of {@link Database.snapshot}. */
export interface SnapshotOptions {
  /** Ends the snapshot. The promise rejects with an {@link AbortError}. */
  signal?: AbortSignal | undefined
  /**
   * The time in milliseconds after which the snapshot is ended. The promise rejects with the code `RESQLITE_TIMEOUT`. It
   * counts from the call, so it includes the wait for its turn. Default: no timeout.
   */
  timeout?: number | undefined
}

/** The result of a write. */
export interface WriteResult<T = Row> {
  /** The number of rows that the statement inserted, updated or deleted, without those of its triggers. */
  changes: number
  /**
   * The rowid of the last row that this write inserted, or 0 if it inserted none. Inside a transaction: the rowid of the last
   * row that the transaction has inserted so far. A number if that is exact, else a bigint; always a bigint with
   * `integers: 'bigint'`.
   */
  lastInsertRowid: number | bigint
  /** The rows of a `RETURNING` clause; empty without one. */
  rows: T[]
  /**
   * The number of the commit that made the write visible. Commit numbers only grow while the engine runs; the next engine begins
   * anew. Inside a transaction: the number of the last commit before the transaction.
   */
  commit: number
}

/** An open transaction, snapshot or iterator: see {@link Diagnostics}. */
export interface SessionHolder {
  /** The time at which the holder was opened, in milliseconds like `Date.now()`. */
  since: number
  /** True if the holder is idle: nothing runs in it, and it waits for its caller. */
  idle: boolean
}

/** A snapshot or iterator that is open: see {@link Diagnostics}. */
export interface LeaseHolder extends SessionHolder {
  /** The kind of the holder. */
  kind: 'snapshot' | 'iterate'
  /** The SQL text of an iterator. */
  sql?: string
}

/** The holder of the writer: a transaction, or a batch whose sets have not all arrived. See {@link Diagnostics}. */
export interface TransactionHolder extends SessionHolder {
  /** The method that began the transaction or batch. */
  kind: 'transaction' | 'begin' | 'executeBatch'
  /**
   * The statement of a batch, or the statement of a transaction that runs or ran last; missing before the first one. If the
   * statement is long, only its beginning.
   */
  sql?: string
}

/**
 * The counters of the engine behind a database: see {@link Database.diagnostics}. All `Database` objects of a process on the
 * same file share an engine.
 */
export interface Diagnostics {
  /** The path as it was passed to `open`. */
  path: string
  /** The version of the built-in SQLite. */
  sqliteVersion: string
  /** True if the database was opened read-only. */
  readOnly: boolean
  /** The number of open `Database` objects that share the engine. */
  handles: number
  /** The size of the database file in bytes; 0 in memory. */
  fileBytes: number
  /** The number of the newest commit; see {@link WriteResult.commit}. */
  lastCommit: number
  /** The write-ahead log. */
  wal: {
    /** The size of its file in bytes; 0 in memory. */
    bytes: number
    /** The number of pages in it after the last commit. */
    pages: number
    /** The number of checkpoints so far. */
    checkpoints: number
    /**
     * The number of checkpoints for which new snapshots, iterators, re-runs and reads were paused for a moment, so that the log could be
     * reset. Otherwise readers that overlap would make it grow (checkpoint starvation).
     */
    resetPauses: number
  }
  /** The readers: selects, and the connections for them, for live queries, snapshots and iterators. */
  readers: {
    /** The largest number of calls that read at the same time. */
    max: number
    /** The number of connections for reading that are open. */
    started: number
    /** The number of calls that read now. */
    busy: number
    /** The number of reads that wait for their turn. */
    queued: number
    /** The largest number of reads that ever waited at once. */
    queuedPeak: number
  }
  /**
   * Quick queries: those that were tried on the calling thread. A query that was sent to a worker at once is in none of these
   * numbers.
   */
  inline: {
    /** The number of quick queries that ran on the calling thread. */
    run: number
    /**
     * The longest time in milliseconds from the beginning of a quick query to its end, whether it ran or was given up. It
     * includes the time for which other threads had the processor.
     */
    longest: number
    /** The number of quick queries that were given up and ran elsewhere, by the reason. */
    givenUp: {
      /** The connection for quick queries was in use or not open, or the answer had to be sent another way. */
      noConnection: number
      /** The statement was not prepared for the calling thread yet. */
      notPrepared: number
      /** The statement is no query, or its time has no bound. */
      unfit: number
      /** A schema had changed. */
      schema: number
      /** A commit had been made, and the connection had to forget much of its cache. */
      behind: number
      /** The query took longer than it may. */
      time: number
      /** A page had to be read from the disk. */
      disk: number
      /** The query would have waited for a lock. */
      lock: number
      /** The result, or a value, was too large. */
      large: number
      /** The query failed. It then failed again elsewhere, with its error. */
      error: number
    }
  }
  /** Snapshots and iterators, each of which holds a connection. */
  leases: {
    /** The number of snapshots and iterators that are open. */
    open: number
    /** The number of snapshots and iterators that wait to be opened. */
    queued: number
    /** The snapshots and iterators that are open, the oldest first. */
    holders: LeaseHolder[]
  }
  /** The writer. */
  writer: {
    /** The number of writes and transactions that wait. */
    queued: number
    /** The holder of the writer: a transaction, or a batch whose sets have not all arrived; null if there is none. */
    transaction: TransactionHolder | null
    /**
     * The wait of the writer for the lock of another process, or of another library in this process; null if it does not
     * wait. Nothing is written meanwhile. `since`: the time at which the wait began, in milliseconds like `Date.now()`.
     * `sql`: the statement that waits, or the first of several; missing for a transaction, which has no statement yet.
     */
    waitingForLock: { since: number; sql?: string } | null
    /** The number of group commits: commits of more than one write. */
    groups: number
    /** The largest number of writes in one group commit. */
    largestGroup: number
    /** The number of groups that could not commit as a whole, so that each write was retried singly. */
    groupsRetriedSingly: number
  }
  /**
   * Live queries: the present state, and the sums over all live queries that there ever were. The sums have the names and
   * meanings of {@link StreamStats}.
   */
  streams: StreamSums & {
    /** The number of live queries. Live queries that share a native live query count as one. */
    open: number
    /** The number of re-runs at work now. */
    running: number
    /** The number of re-runs that wait for their turn. */
    queued: number
    /** The largest number of re-runs that ever waited at once. */
    queuedPeak: number
    /** The number of external commits that were noticed: by other processes, or by other libraries in this process. */
    externalCommits: number
  }
}
