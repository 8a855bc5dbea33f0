import type { RowDeleted, RowInserted, RowUpdated } from './live-types'
import type { AbortOptions, Row } from './types'

/** Options of {@link Database.feed}. */
export interface ChangeFeedOptions extends AbortOptions {
  /**
   * The position after which to begin, for a consumer that keeps its position itself. Default: what it has acknowledged last;
   * for a new feed, the newest commit.
   */
  after?: number | undefined
  /**
   * The tables whose rows are told. Changes of the schema and gaps always are. A name that no table has is no error: the table
   * may be created later. Default: all.
   */
  tables?: readonly string[] | undefined
  /** The bounds of what is kept for the consumer while it does not read. Default: 1 GiB; for an existing feed, as they were. */
  keep?: KeepCommits | undefined
  /**
   * When commits are acknowledged: `'next'` acknowledges each when the next one is asked for; `'manual'` leaves it to the
   * method `acknowledge` of the feed. Default: `'next'`.
   */
  acknowledge?: 'next' | 'manual' | undefined
  /** Ends the reading: the iterator rejects with an {@link AbortError}. The feed stays. */
  signal?: AbortSignal | undefined
}

/**
 * The bounds of what is kept for a consumer that does not come back. Of several bounds, the first that is reached counts. `{}`
 * keeps everything. What is beyond the bounds is removed with every 256th commit of a process, and when a consumer acknowledges:
 * until then there may be more.
 */
export interface KeepCommits {
  /** So many commits. */
  commits?: number | undefined
  /** About so many bytes in the database. */
  bytes?: number | undefined
  /** Commits of the last so many milliseconds. */
  age?: number | undefined
}

/**
 * Why a commit of a change feed does not tell everything. Something has changed by then that neither it nor a commit before
 * it tells: read what you keep again.
 *
 * - `'external'`: another program, or another copy of SQLite, has written to the database.
 * - `'script'`: SQL has run that manages transactions or the file itself, VACUUM for example.
 * - `'unlisted'`: the commit cannot be told: it has more than 256 MiB, or more than 512 MiB as JSON, changed a table whose columns
 *   have all three names of the row id, ran a change of the schema with `executeBatch`, or configured a full-text table.
 */
export type ChangeGap = 'external' | 'script' | 'unlisted'

/**
 * One change of a row. A row that a commit changed several times comes as many times, with what each change made of it. So `old`
 * of a row that was deleted is never null. An UPDATE that changes the key comes as two: a row that is deleted, and one that is
 * inserted.
 */
export type FeedRow = (RowInserted | RowUpdated | (RowDeleted & { old: Row })) & {
  /** The table, in the main database. */
  table: string
}

/** A change of the schema. */
export interface FeedSchemaChange {
  /** Tells it from the change of a row. */
  operation: 'schema'
  /**
   * A statement that makes this change, not always in the words that were run: a `;` at the end is left out, and `CREATE TABLE …
   * AS` comes as a table with columns. A PRAGMA that writes to the header of the file is a change of the schema, too, and comes as
   * `PRAGMA main.user_version = 2`.
   */
  sql: string
}

/** A commit, as a change feed tells it. */
export interface FeedCommit {
  /** Its place among all commits to this database. It stays the same for ever, and grows. */
  position: number
  /** When it was made, by the clock of the machine. */
  at: Date
  /** The reason why the commit does not tell everything; null if it does. */
  gap: ChangeGap | null
  /** The changes of the commit, in the order in which they were made. */
  operations: (FeedRow | FeedSchemaChange)[]
}
