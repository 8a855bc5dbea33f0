// Generated from the Rust sources. After a change there, write it with:
// WRITE_PROTOCOL=1 cargo test -p resqlite-node --test protocol

/**
 * The counters of a live query: see {@link LiveQuery.stats}. Live queries that share a native one share its
 * counters.
 */
export interface StreamStats {
  /** Commits that were examined. */
  commits: number
  /** Commits that caused no re-run because they changed none of the tables that the queries read. */
  skippedByTable: number
  /** Commits that caused no re-run because they changed none of the columns that the queries read. */
  skippedByColumn: number
  /** Commits that caused no re-run because they changed no row that fulfils the conditions of the queries. */
  skippedByKey: number
  /** Re-runs of the queries. The first run and audits do not count. */
  reruns: number
  /** Re-runs that looked only at changed base rows, for all queries if there are several. */
  maintained: number
  /** The number of changed base rows that the re-runs looked at. */
  rowsAsked: number
  /**
   * Whole runs of queries that can be maintained, made because nothing was kept: such a run is quick, the
   * result is too large, its values do not show how a change affects it, or reading what would be kept takes
   * too long.
   */
  wholeNotKept: number
  /**
   * Whole runs of such queries, made because it was not known exactly what had changed: after DDL, an
   * external commit, a rollback, or very many commits.
   */
  wholeUnknownChanges: number
  /**
   * Whole runs of such queries, made because so many rows had changed that a whole run is quicker, or because
   * it took too long to look at them.
   */
  wholeManyChanges: number
  /**
   * Whole runs of such queries, made because the kept rows did not determine the result: the rows behind a
   * window were used up, a least or greatest value left, a sum of REAL values changed, several tables of a
   * join had changed, or no index finds the partners of a row.
   */
  wholeUndecided: number
  /** Re-runs that had the same result as before, so that nothing was emitted. */
  unchanged: number
  /** Values emitted, including the first. */
  emitted: number
  /** Commits that needed no re-run of their own, because the queries were to be re-run anyway. */
  coalesced: number
  /** New rows delivered in total. */
  rowsPatched: number
  /** Re-runs that failed. */
  errors: number
  /** Runs that were given up because they took too long beside others, and made again. */
  givenUp: number
  /**
   * Audits: whole runs that no commit required, made to check that nothing has changed since the last one.
   */
  audits: number
  /** Audits that found a new result. Anything but 0 is a bug in resqlite. */
  missed: number
  /** The reason for the last run of the queries. */
  lastReason: 'first' | 'unknown' | 'schema' | 'table' | 'columns' | 'rows'
  /** The duration of the last run, in microseconds. */
  lastMicros: number
  /** The duration of all runs together, with the first and the audits, in microseconds. */
  totalMicros: number
  /** The number of rows of the result, or of all results together. */
  rows: number
  /** A query uses something that changes by itself, such as the time. Such a change causes no re-run. */
  volatile: boolean
}

/** The counters that can be added up over live queries. */
export type StreamSums = Omit<StreamStats, 'lastReason' | 'lastMicros' | 'rows' | 'volatile'>

/** The counters of a live query, in the order in which the native side writes them. */
export const STREAM_COUNTERS = [
  'commits',
  'skippedByTable',
  'skippedByColumn',
  'skippedByKey',
  'reruns',
  'maintained',
  'rowsAsked',
  'wholeNotKept',
  'wholeUnknownChanges',
  'wholeManyChanges',
  'wholeUndecided',
  'unchanged',
  'emitted',
  'coalesced',
  'rowsPatched',
  'errors',
  'givenUp',
  'audits',
  'missed',
  'totalMicros',
  'lastReason',
  'lastMicros',
  'rows',
  'volatile',
] as const

/**
 * The counters of the whole process: all databases, native threads and worker_threads. Names that end in `Us`
 * are times in microseconds, with fractions; names that contain `Max` are the largest numbers that ever were
 * at once; the others count events.
 */
export interface ProfileCounters {
  /** Time of the main threads for handing requests over to the native threads, including waking them. */
  submitUs: number
  /**
   * Time of the main threads for handling replies: decoding, settling promises, calling subscribers; without
   * the code that waits for the promises.
   */
  completionHandlerUs: number
  /** Time for calling subscribers; part of `completionHandlerUs`. */
  streamEmitUs: number
  /** Time of the readers for `select`, `selectOne` and `selectBytes`, including waking the main thread. */
  readerRequestUs: number
  /** Time for examining new commits for live queries, and calling workers for the re-runs. */
  invalidateUs: number
  /** Time for finding the live queries that commits affect; part of `invalidateUs`. */
  intersectionUs: number
  /** Time of the writer for requests, from taking them to the last reply. */
  writerRequestUs: number
  /**
   * Time for `BEGIN IMMEDIATE`, including the check for external changes of the schema. Part of
   * `writerRequestUs`, like the times of the writer below.
   */
  writerBeginUs: number
  /** Time for stepping statements, without `writerDirtyUs`. */
  writerSqliteUs: number
  /** Time for `COMMIT`. */
  writerCommitUs: number
  /** Time for savepoints, `ROLLBACK` and `PRAGMA synchronous`. */
  writerControlUs: number
  /** Time for recording changes: changed rows, the change summary of a commit, the commit log. */
  writerDirtyUs: number
  /** Time for replying to callers. */
  writerReplyUs: number
  /** Calls that `submitUs` measures: one for all requests of a turn of the event loop. */
  submitCount: number
  /** Calls that `completionHandlerUs` measures, without those that found no replies. */
  completionHandlerCount: number
  /** Replies that were handled: ends of requests, and emissions and errors of live queries. */
  completions: number
  /** Emissions of live queries. */
  streamEmitCount: number
  /** Reads that `readerRequestUs` measures. */
  readerRequestCount: number
  /** Times that new commits were examined for live queries. */
  invalidateCount: number
  /** Commits for which affected live queries were looked up. */
  intersectionCount: number
  /** Index entries that were examined to find affected live queries. */
  intersectionEntries: number
  /** Reads that had to wait for a free reader. */
  dispatcherParkedTotal: number
  /** Times that a worker was called for reads and found no reads. */
  dispatcherWakeRetryTotal: number
  /** Re-runs that had to wait for a free slot. */
  rerunParkedTotal: number
  /** Times that a worker was called for re-runs and found no re-runs. */
  rerunWakeRetryTotal: number
  /** Requests to the writer: writes, and the beginnings and steps of transactions. */
  writerRequestCount: number
  /** Transactions that were begun. */
  writerBeginCount: number
  /** Runs of statements; in a batch, one per parameter set. */
  writerSqliteCount: number
  /** Transactions that were committed. */
  writerCommitCount: number
  /** Statements that `writerControlUs` measures. */
  writerControlCount: number
  /** Commits whose changes were recorded. */
  writerDirtyCount: number
  /** Changed rows that were recorded. */
  writerDirtyRows: number
  /** Replies of the writer. */
  writerReplyCount: number
  /** Rows that were sent to JavaScript. */
  rowsDecoded: number
  /** The values of the rows that were sent to JavaScript. */
  cellsDecoded: number
  /** Largest number of reads that waited for a free reader. */
  dispatcherMaxParkedConcurrent: number
  /** Largest number of re-runs that waited for a free slot. */
  rerunMaxParkedConcurrent: number
  /** Largest number of requests in the writer's queue. */
  writerQueueMax: number
  /** Largest number of reads in the readers' queue. */
  readerQueueMax: number
  /** Largest number of re-runs in their queue. */
  rerunQueueMax: number
}
