import type { StreamSums } from './counters'

/** A value that can be passed as a parameter. Booleans are stored as 1 and 0. */
export type SqlValue = null | number | bigint | string | boolean | Uint8Array

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

/** A value of a result row. A BLOB is a `Buffer` that belongs to the caller. */
export type ColumnValue = null | number | bigint | string | Uint8Array

/** A result row with the column names as keys. If two columns have the same name, the last one wins. */
export type Row = Record<string, ColumnValue>

/** A result row as an array of its values, in the order of the columns. */
export type RowArray = ColumnValue[]

/** How integers are returned: see {@link OpenOptions.integers}. */
export type Integers = 'auto' | 'number' | 'bigint'

/** A value of a pragma. */
export type PragmaValue = string | number | boolean

/** Options of {@link Database.open}. */
export interface OpenOptions {
  /** Opens the file read-only. It must exist. Default: `false`. */
  readOnly?: boolean
  /** The largest number of reader threads, from 1 to 64. Default: the number of cores − 1, but at least 2 and at most 4. */
  readers?: number
  /**
   * `'normal'` (default): a commit survives a crash of the process; the last commits may be lost when the machine loses
   * power. `'full'`: every commit is on the disk before its promise resolves.
   */
  durability?: 'normal' | 'full'
  /** How long a write waits for a lock of another process, in milliseconds. Default: 5000. */
  busyTimeout?: number
  /** Whether foreign keys are enforced. Default: `true`. */
  foreignKeys?: boolean
  /**
   * How integers are returned. `'auto'` (default): as a number if that is exact, else as a bigint. `'number'`: always as a
   * number; one that a number cannot represent exactly is an error that names the column. `'bigint'`: always as a bigint.
   */
  integers?: Integers
  /** The number of prepared statements that each connection keeps, from 1 to 65,535. Default: 128. */
  statementCacheSize?: number
  /** Pragmas that are set on every connection, for example `{ cache_size: -8000 }`. Default: none. */
  pragmas?: Readonly<Record<string, PragmaValue>>
  /**
   * Whether live queries are re-run after commits by other processes. While there are live queries, the engine then looks
   * for such commits. Default: `true`.
   */
  watchExternal?: boolean
  /**
   * Whether views, triggers, CHECK constraints and the like may use functions and virtual tables that can do harm.
   * Default: `false`.
   */
  trustedSchema?: boolean
  /**
   * Whether SQL that can damage the file is refused: writes to the shadow tables of virtual tables, and to the schema table.
   * Default: `true`.
   */
  defensive?: boolean
  /**
   * For files or SQL that you do not trust. The file is checked for damage before it is used (`PRAGMA quick_check`, which
   * reads all of it), the size and complexity of SQL are limited, and no file can be attached. See SECURITY.md. Default:
   * `false`.
   */
  untrusted?: boolean
}

/** Options of calls that can be cancelled. */
export interface AbortOptions {
  /**
   * Cancels the call. A read rejects at once with an {@link AbortError}. A write is interrupted, and its promise says what
   * happened: it rejects with an {@link AbortError} if the write was undone, and resolves if it was too late for that.
   */
  signal?: AbortSignal
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
   * The time that the statement may run, in milliseconds. Waiting for a thread, or for the caller between two batches of
   * `iterate`, does not count.
   */
  time?: number
  /**
   * The number of steps of SQLite's virtual machine, checked every 1,000. The same query takes the same number of steps on
   * the same data.
   */
  steps?: number
  /** The size of the result in bytes: its text and BLOBs, and a few bytes per value. Checked about every 100 KiB. */
  bytes?: number
}

/** Options of reads. */
export interface ReadOptions extends AbortOptions {
  /** What the query may cost. Default: no limits. */
  limits?: QueryLimits
}

/** Options of {@link Database.execute}. */
export interface ExecuteOptions extends AbortOptions {
  /** Returns rows as arrays of values instead of objects. Default: `false`. */
  arrays?: boolean
}

/** Options of {@link Database.select} and {@link Database.selectOne}. */
export interface SelectOptions extends ReadOptions {
  /** Returns rows as arrays of values instead of objects. Default: `false`. */
  arrays?: boolean
}

/** Options of {@link Database.iterate}. */
export interface IterateOptions extends ReadOptions {
  /** The number of rows that are fetched at a time, from 1 to 1,000,000. Default: 1000. */
  batchSize?: number
}

/** Options of {@link Database.transaction}. */
export interface TransactionOptions {
  /** Rolls the transaction back. The promise rejects with an {@link AbortError}. */
  signal?: AbortSignal
  /**
   * The time in milliseconds after which the transaction is rolled back. The promise rejects with the code
   * `RESQLITE_TIMEOUT`. It counts from the moment when the transaction gets the write lock. Default: no timeout.
   */
  timeout?: number
}

/** Options of {@link Database.snapshot}. */
export interface SnapshotOptions {
  /** Ends the snapshot. The promise rejects with an {@link AbortError}. */
  signal?: AbortSignal
  /**
   * The time in milliseconds after which the snapshot is ended. The promise rejects with the code `RESQLITE_TIMEOUT`. It
   * counts from the call, so it includes the wait for a thread. Default: no timeout.
   */
  timeout?: number
}

/** The result of a write. */
export interface WriteResult<T = Row> {
  /** The number of rows that the statement inserted, updated or deleted, without those of its triggers. */
  changes: number
  /**
   * The rowid of the last row that this write inserted, or 0 if it inserted none. Inside a transaction: of the last row that
   * the transaction has inserted so far. A number if that is exact, else a bigint; always a bigint with
   * `integers: 'bigint'`.
   */
  lastInsertRowid: number | bigint
  /** The rows of a `RETURNING` clause; empty without one. */
  rows: T[]
  /**
   * The number of the commit that made the write visible. Commit numbers only grow. Inside a transaction: the number of the
   * last commit before the transaction.
   */
  commit: number
}

/** An open transaction, snapshot or iterator: see {@link Diagnostics}. */
export interface SessionHolder {
  /** When it got its thread, in milliseconds like `Date.now()`. */
  since: number
  /** Whether it is idle: nothing runs in it, and its thread waits for the caller. */
  idle: boolean
}

/** A snapshot or iterator that holds a thread: see {@link Diagnostics}. */
export interface LeaseHolder extends SessionHolder {
  kind: 'snapshot' | 'iterate'
  /** The SQL text of an iterator. */
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
  /** Whether the database was opened read-only. */
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
     * The number of checkpoints for which new reads were paused for a moment, so that the log could be reset. Otherwise
     * readers that overlap would make it grow (checkpoint starvation).
     */
    resetPauses: number
  }
  /** The reader threads. */
  readers: {
    /** The largest number of reader threads. */
    max: number
    /** The number of reader threads started so far. */
    started: number
    /** The number of reader threads that are running a job now. */
    busy: number
    /** The number of reads that wait for a reader thread. */
    queued: number
    /** The largest number of reads that ever waited at once. */
    queuedPeak: number
  }
  /** Snapshots and iterators, each of which holds a reader thread. */
  leases: {
    /** The number of them that are open. */
    open: number
    /** The number of them that wait for a thread. */
    queued: number
    /** Those that hold a thread, the oldest first. */
    holders: LeaseHolder[]
  }
  /** The writer thread. */
  writer: {
    /** The number of writes and transactions that wait. */
    queued: number
    /** The transaction that holds the writer, or null. */
    transaction: SessionHolder | null
    /** The number of group commits: commits of more than one write. */
    groups: number
    /** The largest number of writes in one of them. */
    largestGroup: number
    /** The number of groups that could not commit as a whole, so that each write was retried singly. */
    groupsRetriedSingly: number
  }
  /**
   * Live queries: the present state, and the sums over all live queries that there ever were. The sums have the names and
   * meanings of {@link StreamStats}.
   */
  streams: StreamSums & {
    /** The number of live queries. Those that share a native one count as one. */
    open: number
    /** The number of re-runs at work now. */
    running: number
    /** The number of re-runs that wait for a thread. */
    queued: number
    /** The largest number of re-runs that ever waited at once. */
    queuedPeak: number
    /** The number of external commits that were noticed: by other processes, or other libraries in this one. */
    externalCommits: number
  }
}
