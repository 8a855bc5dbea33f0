/** Bounds of the studio. Sizes are in bytes, times in milliseconds, unless the name says otherwise. */

/** Largest body of a request. */
export const BODY_BYTES = 4 * 1024 * 1024

/** Rows of a table that a page watches at a time. */
export const WINDOW_ROWS = 300

/** Rows that are shown of what has no key: views, virtual tables. */
export const KEYLESS_ROWS = 1_000

/** Most bytes of a window of a grid: of a wide table, cells show less. */
export const WINDOW_BYTES = 16 * 1024 * 1024

/** Characters of a text, and bytes of a BLOB, that a cell of a grid shows. */
export const CELL_TEXT = 200
export const CELL_BLOB = 24

/** Most characters of one whole value that is sent to be read or edited. */
export const VALUE_TEXT = 1_000_000

/** Most characters of one whole value that is sent to be copied. */
export const COPIED_TEXT = 16_000_000

/** Rows of a statement of the editor, and its bytes as they are sent: a BLOB takes two for each of its own. */
export const RESULT_ROWS = 5_000
export const RESULT_BYTES = 32 * 1024 * 1024

/** The time that work may take. */
export interface Times {
  /** A statement of the editor, and whatever else a page waits for. */
  readonly statement: number
  /** A page waits so much longer for a statement than that. */
  readonly grace: number
  /** Rows are counted so long before the number is estimated. */
  readonly count: number
  /** The keys of a table without rowids are read so long to find out where they are. */
  readonly directory: number
}

export const TIMES: Times = { statement: 10_000, grace: 1_000, count: 400, directory: 400 }

/** One key in so many is remembered. */
export const DIRECTORY_STRIDE = 1_000
/** Lifetime of a directory. */
export const DIRECTORY_AGE = 30_000

/** Statements of one batch of edits. */
export const BATCH_EDITS = 2_000

/** Time between two samples. */
export const SAMPLE_DELAY = 500
/** Samples that are kept: five minutes. */
export const SAMPLES = 600
/** Time for which samples are taken after the last page has left. */
export const LINGER = 60_000

/** Live queries that are listed: those with most re-runs. */
export const LISTED_QUERIES = 500
/** Live queries whose counters are read for each sample, besides those that are listed. */
export const EXAMINED_QUERIES = 1_500
/** Texts of statements whose times are kept. */
export const KNOWN_STATEMENTS = 300
/** Characters of a text of SQL that is listed. */
export const LISTED_SQL = 4_000

/** Timeout of the answers that are under way when the studio is closed. */
export const CLOSE_MILLISECONDS = 500
