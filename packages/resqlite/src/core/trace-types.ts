import type { Emission } from './live-types'

/** The message that the subscribers of a tracing channel get: one object per call, the same for all of its events. */
interface Trace {
  /** The path as it was passed to `open`. */
  database: string
  /** The time from the call to its outcome, in milliseconds. Set before `asyncEnd`. */
  duration?: number
  /**
   * The part of the duration, in milliseconds, for which the call waited for its turn: for a free reader, for the writer, or
   * for the calls before it in its transaction. Writes that share a commit are taken up together, so the wait of one write
   * for another is not included. Not set if the call was never taken up. Set before `asyncEnd`.
   */
  queueTime?: number
  /** The error with which the call failed. Set before `error`. */
  error?: unknown
}

/**
 * The message to subscribers of the tracing channel `resqlite:query`, which traces every call that runs SQL. Parameters and
 * rows are not part of the message.
 */
export interface QueryTrace extends Trace {
  /** The method that was called: `'select'`, `'execute'`, … */
  method: string
  /** The SQL text; for `batch`, the texts of its statements. */
  sql: string
  /** The number of rows that the call returned, if it returns rows. Set before `asyncEnd`. */
  rows?: number
  /** The number of rows that a write has changed: see {@link WriteResult.changes}. Set before `asyncEnd`. */
  changes?: number
}

/**
 * The message to subscribers of the tracing channel `resqlite:transaction`, which traces transactions from the call to their
 * end.
 */
export interface TransactionTrace extends Trace {
  /** The method that was called. */
  method: 'transaction' | 'begin'
  /** True if the transaction is nested in another. */
  nested: boolean
  /**
   * The time in milliseconds that the transaction waited for the write lock. Not set if it is nested, or never got the lock.
   */
  queueTime?: number
  /** The outcome of the transaction. Set before `asyncEnd`. */
  outcome?: 'commit' | 'rollback'
}

/** The message to subscribers of the tracing channel `resqlite:commit`, which traces the COMMIT of transactions. */
export interface CommitTrace extends Trace {
  /** The number of the commit: see {@link WriteResult.commit}. Set before `asyncEnd`. */
  commit?: number
}

/**
 * The message to subscribers of the tracing channel `resqlite:live`. The channel has only the event `asyncEnd`: one for each
 * run of a live query that took 20 ms or more and was neither given up nor failed, whether it found anything new or not. Live
 * queries that share a native live query share its runs.
 */
export interface LiveTrace {
  /** The path as it was passed to `open`. */
  database: string
  /** The SQL text; for several queries, their texts. */
  sql: string
  /** The time that the run took, in milliseconds. */
  duration: number
  /** The reason why the live query ran: see {@link StreamStats.lastReason}. */
  reason: Emission['reason']
}
