import { type ProfileBinding, profileBinding } from './channel/profile-binding'
import { ResqliteError } from './core/errors'
import { nativeBinding } from './wire/native'

/**
 * Counters of the whole process: all databases, all threads, all worker_threads. Those that end in `Us` are
 * microseconds with fractions; those with `Max` in their name are the most that ever were at once.
 */
export interface ProfileCounters {
  /** Main threads in handing requests over to the native threads, waking them included. */
  submitUs: number
  /** Main threads in the callback that hands replies over: decoding, settling promises, subscribers. Not what waits for the promises. */
  completionHandlerUs: number
  /** Telling subscribers of new results; part of `completionHandlerUs`. */
  streamEmitUs: number
  /** Readers with `select`, `selectOne` and `selectBytes`, waking the main thread included. */
  readerRequestUs: number
  /** Looking through new commits for live queries, and calling threads for those that must run. */
  invalidateUs: number
  /** Looking up whom commits concern; part of `invalidateUs`. */
  intersectionUs: number
  /** The writer thread with requests, from taking them to the last answer. */
  writerRequestUs: number
  /** `BEGIN IMMEDIATE`, with the look for foreign changes of the schema; part of `writerRequestUs`, like all `writer…Us` that follow. */
  writerBeginUs: number
  /** Stepping statements, without `writerDirtyUs`. */
  writerSqliteUs: number
  /** `COMMIT`. */
  writerCommitUs: number
  /** Savepoints, `ROLLBACK`, `PRAGMA synchronous`. */
  writerControlUs: number
  /** Recording what changes: changed rows, the summary of a commit, the commit log. */
  writerDirtyUs: number
  /** Answering callers. */
  writerReplyUs: number
  /** Calls behind `submitUs`: one for all requests of a turn of the event loop. */
  submitCount: number
  /** Calls of the callback behind `completionHandlerUs` that found replies. */
  completionHandlerCount: number
  /** Replies handled in them: requests that ended, and emissions and errors of live queries. */
  completions: number
  /** New results that subscribers were told. */
  streamEmitCount: number
  /** Reads behind `readerRequestUs`. */
  readerRequestCount: number
  /** How often the live queries caught up with new commits. */
  invalidateCount: number
  /** Commits that were looked up. */
  intersectionCount: number
  /** Entries of indexes that were looked at for it. */
  intersectionEntries: number
  /** Reads that found no free reader and had to wait. */
  dispatcherParkedTotal: number
  /** Times that a reader was woken, found nothing to do, and slept again. */
  dispatcherWakeRetryTotal: number
  /** Calls for runs of live queries that found no free thread and had to wait. */
  rerunParkedTotal: number
  /** Times that a thread of the live queries was woken, found nothing to do, and slept again. */
  rerunWakeRetryTotal: number
  /** Requests: writes, the steps of transactions, and their beginnings. */
  writerRequestCount: number
  /** Transactions begun. */
  writerBeginCount: number
  /** Runs of statements; of a batch, one per set of parameters. */
  writerSqliteCount: number
  /** Transactions committed. */
  writerCommitCount: number
  /** Statements behind `writerControlUs`. */
  writerControlCount: number
  /** Commits whose changes were recorded. */
  writerDirtyCount: number
  /** Changed rows that were recorded. */
  writerDirtyRows: number
  /** Answers of the writer. */
  writerReplyCount: number
  /** Rows handed to JavaScript. */
  rowsDecoded: number
  /** The cells of these rows. */
  cellsDecoded: number
  /** Reads that waited for a free reader at once. */
  dispatcherMaxParkedConcurrent: number
  /** Calls for runs of live queries that waited for a free thread at once. */
  rerunMaxParkedConcurrent: number
  /** Requests in the writer's queue. */
  writerQueueMax: number
  /** Reads in the readers' queue. */
  readerQueueMax: number
  /** Calls for runs of live queries in their threads' queue. */
  rerunQueueMax: number
}

/** Whether the native module that is loaded counts: see docs/profiling.md. */
export const available: boolean = profileBinding(nativeBinding()) !== undefined

/**
 * The counters now. Native threads count a piece of work when they are done with it, which may be a moment after its
 * promise was settled.
 *
 * ```ts
 * import { diff, snapshot } from 'resqlite/profile'
 *
 * const before = snapshot()
 * await db.select('SELECT * FROM users')
 * const { completionHandlerUs, rowsDecoded } = diff(before, snapshot())
 * ```
 *
 * Throws a {@link ResqliteError} `RESQLITE_PROFILE` where nothing is counted.
 */
export function snapshot(): ProfileCounters {
  return JSON.parse(counting('snapshot').profileSnapshot()) as ProfileCounters
}

/**
 * What was counted between two snapshots; 0 where the second is less, because of a {@link reset} between them. Of the
 * highest values those of the second are given.
 */
export function diff(before: ProfileCounters, after: ProfileCounters): ProfileCounters {
  const names = Object.keys(after) as (keyof ProfileCounters)[]
  const since = names.map((name) => [name, isHighest(name) ? after[name] : less(after[name], before[name])])
  return Object.fromEntries(since) as ProfileCounters
}

/** Sets all counters of the process to 0. Throws like {@link snapshot}. */
export function reset(): void {
  counting('reset').profileReset()
}

function isHighest(name: string): boolean {
  return /Max(?![a-z])/.test(name)
}

/** Times are whole nanoseconds. */
function less(after: number, before: number): number {
  return Math.max(0, Math.round((after - before) * 1000) / 1000)
}

function counting(operation: string): ProfileBinding {
  const binding = profileBinding(nativeBinding())
  if (binding !== undefined) return binding
  throw new ResqliteError(
    `${operation}: this native module has no counters. Build one that has with "npm run build -- --profile" in a ` +
      'clone of the repository, and name its file in the environment variable RESQLITE_NATIVE_PATH.',
    'RESQLITE_PROFILE',
  )
}
