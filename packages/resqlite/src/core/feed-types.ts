import type { RowDeleted, RowInserted, RowUpdated } from './live-types'
import type { AbortOptions, Row } from './types'

/** Options of {@link Database.feed}. */
export interface ChangeFeedOptions extends AbortOptions {
  /**
   * The position after which to begin, for a consumer that keeps its position itself. Default: the position that it
   * acknowledged last; for a new feed, the newest commit.
   */
  after?: number | undefined
  /**
   * The tables whose rows the feed reports. It always reports changes of the schema and gaps. A name that no table has is no
   * error: the table may be created later. Default: all.
   */
  tables?: readonly string[] | undefined
  /** The bounds of what is kept for the consumer while it does not read. Default: 1 GiB; for an existing feed, as they were. */
  keep?: KeepCommits | undefined
  /**
   * The time at which commits are acknowledged. `'next'` acknowledges each commit when the next one is asked for; `'manual'`
   * leaves it to the method `acknowledge` of the feed. Default: `'next'`.
   */
  acknowledge?: 'next' | 'manual' | undefined
  /** Ends the reading: the iterator rejects with an {@link AbortError}. The feed stays. */
  signal?: AbortSignal | undefined
}

/**
 * The bounds of the commits that are kept for a consumer that does not return. If there are several bounds, the first that is
 * reached counts. `{}` keeps everything. Commits beyond the bounds are removed with every 256th commit of a process, and when
 * a consumer acknowledges: until then there may be more commits.
 */
export interface KeepCommits {
  /** The number of commits that are kept. */
  commits?: number | undefined
  /** The approximate number of bytes that the kept commits may take in the database. */
  bytes?: number | undefined
  /** The age in milliseconds up to which commits are kept. */
  age?: number | undefined
}

/**
 * The reason why a commit of a change feed does not report everything. Something has changed by then that neither this commit
 * nor an earlier one reports: read again the data that you keep.
 *
 * - `'external'`: another program, or another copy of SQLite, has written to the database.
 * - `'script'`: SQL has run that manages transactions or the file itself, for example VACUUM.
 * - `'unlisted'`: the commit cannot be reported: it has more than 256 MiB, or more than 512 MiB as JSON, changed a table
 *   whose columns have all three names of the row id, ran a change of the schema with `executeBatch`, or configured a
 *   full-text table.
 */
export type ChangeGap = 'external' | 'script' | 'unlisted'

/**
 * One change of a row. A row that a commit changed several times is reported once for each change, with the values after that
 * change. So `old` of a row that was deleted is never null. An UPDATE that changes the key is reported as two changes: a row
 * that is deleted, and a row that is inserted.
 */
export type FeedRow = (RowInserted | RowUpdated | (RowDeleted & { old: Row })) & {
  /** The table, in the main database. */
  table: string
}

/** A change of the schema. */
export interface FeedSchemaChange {
  /** Distinguishes the change from the change of a row. */
  operation: 'schema'
  /**
   * A statement that makes this change, not always in the same words as the SQL that was run: a `;` at the end is left out,
   * and `CREATE TABLE … AS` is reported as a table with columns. A PRAGMA that writes to the header of the file is a change
   * of the schema, too, and is reported as `PRAGMA main.user_version = 2`, for example.
   */
  sql: string
}

/** A commit, as a change feed reports it. */
export interface FeedCommit {
  /**
   * The position of the commit among all commits to this database. It never changes, and later commits have greater
   * positions.
   */
  position: number
  /** The time at which the commit was made, by the clock of the machine. */
  at: Date
  /** The reason why the commit does not report everything; null if it does. */
  gap: ChangeGap | null
  /** The changes of the commit, in the order in which they were made. */
  operations: (FeedRow | FeedSchemaChange)[]
}
