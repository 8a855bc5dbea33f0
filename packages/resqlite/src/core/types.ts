/** A value that can be bound as a parameter. */
export type SqlValue = null | number | bigint | string | boolean | Uint8Array

/**
 * Parameters of one statement: an array for `?` and `?1`, a plain object for `:name`, `@name` and `$name`.
 * The keys of the object may carry the prefix or leave it out.
 *
 * ```ts
 * await db.select('SELECT * FROM users WHERE id = ?', [7])
 * await db.select('SELECT * FROM users WHERE id = :id', { id: 7 })
 * ```
 */
export type SqlParams = readonly SqlValue[] | Readonly<Record<string, SqlValue>>

/** A value in a result row. BLOBs are Buffers that belong to the caller. */
export type ColumnValue = null | number | bigint | string | Uint8Array

/** A result row with the column names as keys. Of two columns with one name the last one wins. */
export type Row = Record<string, ColumnValue>

/** A result row as an array, in the order of the columns. */
export type RowArray = ColumnValue[]

/** How INTEGER columns arrive: see {@link OpenOptions.integers}. */
export type Integers = 'auto' | 'number' | 'bigint'

/** A value that a pragma can be set to. */
export type PragmaValue = string | number | boolean

/** Options of {@link Database.open}. */
export interface OpenOptions {
  /** Open without the right to write. The file must exist. Default: `false`. */
  readOnly?: boolean
  /** Reader threads. Default: the number of cores − 1, but at least 2 and at most 4. */
  readers?: number
  /**
   * `'normal'` (default): a commit survives a crash of the process; the last ones may be lost when the
   * machine loses power. `'full'`: every commit is on the disk before it is acknowledged.
   */
  durability?: 'normal' | 'full'
  /** How long a write waits for another process that holds the file, in milliseconds. Default: 5000. */
  busyTimeout?: number
  /** Enforce foreign keys. Default: `true`. */
  foreignKeys?: boolean
  /**
   * `'auto'` (default): a number where it is exact, else a bigint. `'number'`: always a number; an integer that
   * a number cannot hold is an error that names the column. `'bigint'`: always a bigint.
   */
  integers?: Integers
  /** Prepared statements kept per connection. Default: 128. */
  statementCacheSize?: number
  /** Pragmas to set on every connection, for example `{ cache_size: -8000 }`. */
  pragmas?: Readonly<Record<string, PragmaValue>>
  /**
   * While there are live queries, look for commits that other processes make to the file, and run the queries again.
   * Default: `true`.
   */
  watchExternal?: boolean
  /**
   * Views, triggers, CHECKs and the like may use functions and virtual tables that can do harm. Default: `false`.
   */
  trustedSchema?: boolean
  /**
   * SQL is kept from what can damage the file: writing to the shadow tables of virtual tables, changing the schema by
   * hand. Default: `true`.
   */
  defensive?: boolean
  /**
   * The file, or the SQL, comes from strangers: the file is looked through for damage before it is used (`PRAGMA
   * quick_check`, which reads all of it), what SQL may ask has bounds, and nothing can be attached. See SECURITY.md.
   * Default: `false`.
   */
  untrusted?: boolean
}

/** Options of calls that can be given up. */
export interface AbortOptions {
  /**
   * Gives the call up. A read rejects at once with an {@link AbortError}. A write is interrupted, and the promise
   * tells what happened: it rejects with an AbortError if the write was undone, and resolves if it was too late.
   */
  signal?: AbortSignal
}

/**
 * What a query may cost, for SQL that users write. One that exceeds a limit ends with a {@link LimitError}; queries
 * before and after it are unharmed.
 */
export interface QueryLimits {
  /**
   * Milliseconds that its statement may run. Waiting for a reader, or for you between two batches of `iterate`, does not
   * count.
   */
  time?: number
  /** Steps of SQLite's virtual machine, looked at every 1,000. On the same data a query takes the same number. */
  steps?: number
  /** Bytes of the result: of its text and BLOBs, and some for each value. Looked at every 100 KiB or so. */
  bytes?: number
}

/** Options of reads. */
export interface ReadOptions extends AbortOptions {
  limits?: QueryLimits
}

/** Options of `execute`. */
export interface ExecuteOptions extends AbortOptions {
  /** Rows as arrays instead of objects. */
  arrays?: boolean
}

/** Options of `select` and `selectOne`. */
export interface SelectOptions extends ReadOptions {
  /** Rows as arrays instead of objects. */
  arrays?: boolean
}

/** Options of `iterate`. */
export interface IterateOptions extends ReadOptions {
  /** Rows fetched at a time. Default: 1000. At most two batches are in memory. */
  batchSize?: number
}

/** Options of `transaction`. */
export interface TransactionOptions {
  /** Rolls the transaction back; the promise rejects with an {@link AbortError}. */
  signal?: AbortSignal
  /**
   * Milliseconds after which the transaction is rolled back; the promise rejects with the code `RESQLITE_TIMEOUT`.
   * It counts from the moment at which the transaction holds the write lock.
   */
  timeout?: number
}

/** Options of `snapshot`. */
export interface SnapshotOptions {
  /** Ends the snapshot; the promise rejects with an {@link AbortError}. */
  signal?: AbortSignal
  /**
   * Milliseconds after which the snapshot is ended; the promise rejects with the code `RESQLITE_TIMEOUT`. It counts from
   * the call, and so limits the wait for a thread as well.
   */
  timeout?: number
}

/** What a write did. */
export interface WriteResult<T = Row> {
  /** Rows inserted, updated or deleted by the statement itself (not by its triggers). */
  changes: number
  /**
   * The rowid of the last row that this write inserted (inside a transaction: that it or an earlier write of the
   * transaction inserted); 0 where none was. A number where that is exact, else a bigint; always a bigint with `integers: 'bigint'`.
   */
  lastInsertRowid: number | bigint
  /** What a RETURNING clause gave; otherwise empty. */
  rows: T[]
  /**
   * Number of the commit that made the write visible; it only grows. Inside a transaction: of the last commit before
   * it.
   */
  commit: number
}

/** An open transaction, snapshot or iterator, see {@link Diagnostics}. */
export interface SessionHolder {
  /** When it got its thread, as `Date.now()` counts. */
  since: number
  /** Nothing runs in it: it waits for its caller. */
  idle: boolean
}

/** A snapshot or iterator that holds a thread, see {@link Diagnostics}. */
export interface LeaseHolder extends SessionHolder {
  kind: 'snapshot' | 'iterate'
  /** The query of an iterator. */
  sql?: string
}

/**
 * Counters of the engine behind a database, see {@link Database.diagnostics}. All `Database` objects of a process on
 * one file share an engine.
 */
export interface Diagnostics {
  /** The path as it was given to `open`. */
  path: string
  sqliteVersion: string
  readOnly: boolean
  /** `Database` objects of this process that share the engine. */
  handles: number
  /** Size of the database file in bytes; 0 in memory. */
  fileBytes: number
  /** Number of the newest commit. */
  commits: number
  /** The write-ahead log. */
  wal: {
    /** Size of its file in bytes; 0 in memory. */
    bytes: number
    /** Pages in it after the last commit. */
    pages: number
    /** Checkpoints made so far. */
    checkpoints: number
    /** Checkpoints for which reads were held back for a moment, so that the log could start anew. */
    readerGaps: number
  }
  readers: {
    /** Reader threads at most. */
    max: number
    /** Reader threads started so far. */
    started: number
    /** Readers at work now. */
    busy: number
    /** Reads that wait for a reader. */
    queued: number
    /** The most reads that ever waited at once. */
    queuedMost: number
  }
  /** Snapshots and iterators, each of which holds a thread. */
  leases: {
    /** Open now. */
    open: number
    /** Waiting for a thread. */
    queued: number
    /** Who holds a thread, the oldest first. */
    holders: LeaseHolder[]
  }
  writer: {
    /** Writes and transactions that wait. */
    queued: number
    /** The transaction that holds the writer, if one does. */
    transaction: SessionHolder | null
    /** Commits that held more than one write. */
    groups: number
    /** The most writes that one of them held. */
    largestGroup: number
    /** Groups that could not commit as a whole, so that each write ran alone. */
    splitGroups: number
  }
  /** Live queries: how many there are now, and the sums over all that there ever were; see {@link StreamStats}. */
  streams: {
    /** Live queries now. Uses that share one count as one. */
    open: number
    /** Re-queries at work now. */
    running: number
    /** Re-queries that wait for a reader. */
    queued: number
    /** The most re-queries that ever waited at once. */
    queuedMost: number
    /** Commits by other processes that were noticed. */
    foreignCommits: number
    commits: number
    skippedByTable: number
    skippedByColumn: number
    skippedByKey: number
    requeries: number
    unchanged: number
    emitted: number
    coalesced: number
    rowsPatched: number
    errors: number
    verified: number
    missed: number
    /** How long the queries took all in all, in microseconds. */
    totalMicros: number
  }
}
