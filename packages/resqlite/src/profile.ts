import { type ProfileBinding, profileBinding } from './channel/profile-binding'
import { ResqliteError } from './core/errors'
import { nativeBinding } from './wire/native'

/**
 * The counters of the whole process: all databases, native threads and worker_threads. Names that end in `Us` are times in
 * microseconds, with fractions; names that contain `Max` are the largest numbers that ever were at once; the others count
 * events.
 */
export interface ProfileCounters {
  /** Time of the main threads for handing requests over to the native threads, including waking them. */
  submitUs: number
  /**
   * Time of the main threads for handling replies: decoding, settling promises, calling subscribers; without the code that
   * waits for the promises.
   */
  completionHandlerUs: number
  /** Time for calling subscribers; part of `completionHandlerUs`. */
  streamEmitUs: number
  /** Time of the readers for `select`, `selectOne` and `selectBytes`, including waking the main thread. */
  readerRequestUs: number
  /** Time for examining new commits for live queries, and calling threads for the re-runs. */
  invalidateUs: number
  /** Time for finding the live queries that commits affect; part of `invalidateUs`. */
  intersectionUs: number
  /** Time of the writer thread for requests, from taking them to the last reply. */
  writerRequestUs: number
  /**
   * Time for `BEGIN IMMEDIATE`, including the check for external changes of the schema. Part of `writerRequestUs`, like the
   * following `writer…Us`.
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
  /** Index entries that were examined for this. */
  intersectionEntries: number
  /** Reads that had to wait for a free reader. */
  dispatcherParkedTotal: number
  /** Times that a reader was woken, found no job, and parked again. */
  dispatcherWakeRetryTotal: number
  /** Re-runs that had to wait for a free thread. */
  rerunParkedTotal: number
  /** Times that a thread for re-runs was woken, found no job, and parked again. */
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
  /** The values of these rows. */
  cellsDecoded: number
  /** Largest number of reads that waited for a free reader. */
  dispatcherMaxParkedConcurrent: number
  /** Largest number of re-runs that waited for a free thread. */
  rerunMaxParkedConcurrent: number
  /** Largest number of requests in the writer's queue. */
  writerQueueMax: number
  /** Largest number of reads in the readers' queue. */
  readerQueueMax: number
  /** Largest number of re-runs in the queue of their threads. */
  rerunQueueMax: number
}

/** Whether the loaded native module has counters. See docs/profiling.md for how to build one. */
export const available: boolean = profileBinding(nativeBinding()) !== undefined

/**
 * Returns the present counters. Native threads count a piece of work when it is done, which may be a moment after its promise
 * was settled.
 *
 * ```ts
 * import { diff, snapshot } from 'resqlite/profile'
 *
 * const before = snapshot()
 * await db.select('SELECT * FROM users')
 * const { completionHandlerUs, rowsDecoded } = diff(before, snapshot())
 * ```
 *
 * Throws a {@link ResqliteError} with the code `RESQLITE_PROFILE` if the native module has no counters.
 */
export function snapshot(): ProfileCounters {
  return JSON.parse(counting('snapshot').profileSnapshot()) as ProfileCounters
}

/**
 * Returns what was counted between two snapshots: the differences, or 0 where a {@link reset} in between made the second
 * smaller. For the largest numbers (`Max`), it returns those of the second snapshot.
 */
export function diff(before: ProfileCounters, after: ProfileCounters): ProfileCounters {
  const names = Object.keys(after) as (keyof ProfileCounters)[]
  const since = names.map((name) => [
    name,
    isMaximum(name) ? after[name] : difference(after[name], before[name]),
  ])
  return Object.fromEntries(since) as ProfileCounters
}

/** Sets all counters of the process to 0. Throws like {@link snapshot}. */
export function reset(): void {
  counting('reset').profileReset()
}

function isMaximum(name: string): boolean {
  return /Max(?![a-z])/.test(name)
}

/** Subtracts. Times are whole nanoseconds, so further digits are rounding errors. */
function difference(after: number, before: number): number {
  return Math.max(0, Math.round((after - before) * 1000) / 1000)
}

function counting(operation: string): ProfileBinding {
  const binding = profileBinding(nativeBinding())
  if (binding !== undefined) return binding
  throw new ResqliteError(
    `${operation}: this native module has no counters. Build one with "npm run build -- --profile" in a clone of the ` +
      'repository, and set the environment variable RESQLITE_NATIVE_PATH to its file.',
    'RESQLITE_PROFILE',
  )
}
