// Generated from the Rust sources. After a change there, write it with:
// WRITE_PROTOCOL=1 cargo test -p resqlite-node --test protocol

/*
 * Requests and replies as frames of bytes. Numbers are little-endian; every frame starts at a multiple of 8.
 *
 * request:  0 u32 size · 4 u8 op   · 5 u8 flags · 8 u32 request · 12 u32 target   · 16 payload
 * reply:    0 u32 size · 4 u8 kind · 5 u8 flags · 8 u32 request · 12 u32 argument · 16 payload
 */

/** Bytes of the header of every frame, request and reply. */
export const FRAME_HEADER = 16

/**
 * The operations of request frames, each with its payload. The target is a database handle, or a session
 * where `SESSION` is set, unless another target is named. `sql` is the number of a text that `DEFINE` gave
 * it; `text` is a `u32` length and UTF-8; `limits` is there where `LIMITS` is set: `f64` milliseconds, `f64`
 * steps, `f64` bytes, each 0 for none.
 */
export const Op = {
  /** `text`. Gives an SQL text the number `target`. No reply. */
  DEFINE: 1,
  /** Forgets all SQL texts. No reply. */
  FORGET: 2,
  /** `text`: the path and the options as JSON. Replies with JSON: `handle` and `engine`. */
  OPEN: 3,
  /** Closes a database handle. */
  CLOSE: 4,
  /** `u32 sql · limits · params` */
  SELECT: 5,
  /** `u32 sql · params` */
  EXECUTE: 6,
  /**
   * `u32 sql · u32 sets · u32 texts · u32 0 · params × sets · texts`, where `texts` is the number of bytes
   * before the texts. With `MORE`, further sets follow in `CHUNK` frames.
   */
  BATCH: 7,
  /**
   * `u32 0 · u32 sets · u32 texts · u32 0 · params × sets · texts`, for the batch that request `target`
   * began. No reply.
   */
  CHUNK: 8,
  /** The caller of the batch that request `target` began has given up. No reply. */
  BATCH_ABORT: 9,
  /** `text`: a script. */
  EXEC: 10,
  /**
   * `u32 session · u32 flags · f64 milliseconds`. Begins a transaction, which ends after that time; 0 for
   * never. The flags are `BeginFlags`.
   */
  BEGIN: 11,
  /** `u32 level` */
  SAVEPOINT: 12,
  /** `u32 level` */
  RELEASE: 13,
  /** `u32 level` */
  ROLLBACK_TO: 14,
  /** Commits the transaction and ends the session. */
  COMMIT: 15,
  /** Ends the session; a transaction is rolled back. */
  END: 16,
  /** Replies when the session ends: with the reason if the engine ended it. */
  ENDED: 17,
  /** `u32 session` */
  SNAPSHOT: 18,
  /**
   * `u32 session · u32 rows per batch · u32 sql · limits · params`. In a session: `u32 cursor` in place of
   * the new session.
   */
  CURSOR: 19,
  /** The next batch of the cursor `target`. */
  FETCH: 20,
  /** Cancels the request `target`. No reply of its own. */
  CANCEL: 21,
  /** Replies with JSON. */
  DIAGNOSTICS: 22,
  /**
   * `f64 verify · u32 queries · u32 flags` (bit 0: results are not maintained), then per query `u32 sql · u32
   * length · params`, padded to 4. Opens a live query.
   */
  STREAM: 23,
  /** Ends the live query or the listener that request `target` opened. No reply of its own. */
  UNSUBSCRIBE: 24,
  /** `u32 sql · params`. Replies with JSON. */
  EXPLAIN_STREAM: 25,
  /** `u32 sql · limits · params`: one statement of any kind. Replies with `RESULTS`. */
  QUERY: 26,
  /** `u32 sql`. Replies with JSON. */
  DESCRIBE: 27,
  /**
   * `u32 texts · u32 statements`, then `u32 sql` per text, then per statement `u32 text · params`: several
   * statements of any kind, as one write. Replies with `RESULTS`.
   */
  STATEMENTS: 28,
  /**
   * `text`: the path and the options as JSON. Replies with JSON several times: the progress, and at last the
   * result.
   */
  BACKUP: 29,
  /** Replies with the bytes of a database file. */
  SERIALIZE: 30,
  /** `u32`: 0 passive, 1 full, 2 restart, 3 truncate. Replies with JSON. */
  CHECKPOINT: 31,
  /** `u32 length · bytes`. Appends to the bytes that an `OPEN` names by the number `target`. No reply. */
  UPLOAD: 32,
  /**
   * `u32`: 0 for no rows, 1 for their keys, 2 for rows. Listens to commits, until `UNSUBSCRIBE`. `OK` is the
   * first reply, and `JSON` each event.
   */
  COMMITS: 33,
  /** Asks for the next event of the listener that request `target` opened. No reply of its own. */
  NEXT_COMMITS: 34,
  /** `u32 cursor`. The next batch of a cursor in a session. */
  FETCH_FROM: 35,
  /** `u32 cursor`. Closes a cursor in a session. */
  CLOSE_CURSOR: 36,
  /** Asks for a `QUEUED` frame for the next request that gets a reply. No reply of its own. */
  TIME_NEXT: 37,
  /** `text`: the new key as JSON. */
  REKEY: 38,
  /**
   * `text`: as JSON, `do` (`open`, `acknowledge`, `drop`), the name of the change feed, and what else that
   * needs. Replies with JSON: a position.
   */
  FEED: 39,
  /**
   * `text`: as JSON, the name of the change feed, the position after which to read, and the tables. Replies
   * with JSON: the next commits, as far as there are any now.
   */
  READ_FEED: 40,
  /**
   * `f64`: a position of the log of a cluster; -1 for the last one. Replies with JSON, the position, when the
   * database has it.
   */
  REACH: 41,
  /** Puts a snapshot into the store of the log of a cluster. Replies with JSON: its position. */
  PUT_SNAPSHOT: 42,
  /**
   * Replies when the live query that request `target` opened has sent a result, or an error, that shows all
   * that is committed now, or has ended.
   */
  CATCH_UP: 43,
} as const

/** Flags of request frames. The lowest bits hold the integer mode. */
export const RequestFlags = {
  /** Only the first row is wanted. */
  FIRST: 4,
  /** The rows are wanted as JSON text. */
  JSON: 8,
  /** The target is a session, not a database handle. */
  SESSION: 16,
  /** The commit must be on disk before it is acknowledged. */
  FULL: 32,
  /** More frames of this batch follow. */
  MORE: 64,
  /** Of a `SELECT` or `QUERY`: the reply says whether it was `QUICK`. */
  TELL_QUICK: 64,
  /** The limits of the query stand before its parameters. */
  LIMITS: 128,
} as const

/** Flags of `BEGIN`. */
export const BeginFlags = {
  /** Foreign keys are off in the transaction. */
  FOREIGN_KEYS_OFF: 1,
  /** No body ends the transaction. */
  WITHOUT_BODY: 2,
  /** It was overtaken just before, and runs again. */
  AGAIN: 4,
} as const

/** Flag bits that hold the integer mode. */
export const INTEGERS_MASK = 3

/** The form in which INTEGER values reach JavaScript. */
export const INTEGER_FLAGS = {
  /** As numbers where they are safe (±(2^53 − 1)), else as BigInts. */
  auto: 0,
  /** As numbers; a value that is not safe is an error that names the column. */
  number: 1,
  /** All as BigInts. */
  bigint: 2,
} as const

/** The kinds of reply frames, each with its argument and payload. */
export const ReplyKind = {
  /**
   * A column layout, sent before its first use. Argument: its number. `u32 length · names as JSON`. With
   * `END`, the layouts sent before are void.
   */
  LAYOUT: 1,
  /** A row batch. Argument: the number of its column layout. */
  ROWS: 2,
  /** A write is done. `f64 changes · i64 last rowid · f64 commit` */
  WRITTEN: 3,
  /** JSON text that a caller gets as it is. Argument: its length. */
  BYTES: 4,
  /** An error as JSON. Argument: its length. */
  ERROR: 5,
  /** An answer as JSON. Argument: its length. */
  JSON: 6,
  /** Done. */
  OK: 7,
  /**
   * The patch that makes a result of new rows and old ones. Argument: the number of the column layout. `u32
   * part · u32 segments`, then per segment `u32 start · u32 count`.
   */
  PATCH: 8,
  /**
   * The patches since the last emission are complete. `f64 commit · f64 microseconds · u32 reason · u32 0`
   */
  EMIT: 9,
  /**
   * The columns of statements, sent before their first use. Argument: their number. `u32 length · JSON`. With
   * `END`, the columns sent before are void.
   */
  COLUMNS: 10,
  /**
   * The results of statements of any kind. Argument: the number of statements. `f64 commit`, then per
   * statement `f64 changes · i64 last rowid · u32 columns · u32 rows`; the rows of all of them were sent
   * before, back to back. A single statement that reads says 0 rows.
   */
  RESULTS: 11,
  /** A thread has taken the request up. Argument: the microseconds that it waited. */
  QUEUED: 12,
  /** Rows and patches since the last emission are void: the run has no result. */
  DISCARD: 13,
  /** A run of a live query took long. `f64 microseconds · u32 reason · u32 0` */
  RAN_LONG: 14,
} as const

/** Flags of reply frames. */
export const ReplyFlags = {
  /** The last frame of the request. */
  LAST: 1,
  /** The cursor has no further rows. */
  END: 2,
  /** The payload is in a slab: `u32 slab · u32 length` stand in its place. */
  SLAB: 4,
  /** The payload is to be taken by `take`: `u32 number · u32 length` stand in its place. */
  OWNED: 8,
  /** The query was so quick that it may run on the realm's own thread. */
  QUICK: 16,
} as const

/** The start of a segment of new rows in a patch. */
export const NEW_ROWS = -1

/** Added to what `submit` returns: a query did not run on the realm's own thread, because of what it is. */
export const NOT_QUICK = 1073741824

/** The reasons of emissions, by their numbers. See `EmissionReason`. */
export const REASONS = ['first', 'unknown', 'schema', 'table', 'columns', 'rows'] as const

/*
 * Parameters of a statement, packed into bytes. The form is the same for every language.
 *
 * `u16 count · u8 named · u8 0`, then the values. A named value starts with `u16 length · UTF-8 name`. A value is `u8 tag` and its
 * content; see `tag`. Numbers are little-endian and not aligned. The texts of many sets may follow the sets, end to end.
 */

/** Tags of packed values. */
export const Tag = {
  /** Nothing follows. */
  NULL: 0,
  /** An `i32` follows. */
  INT32: 1,
  /** An `f64` that holds a safe integer follows. */
  INTEGER: 2,
  /** An `i64` follows. */
  INT64: 3,
  /** An `f64` follows. */
  REAL: 4,
  /** A `u32` length and UTF-8 text follow. */
  TEXT: 5,
  /** A `u32` length and bytes follow. */
  BLOB: 6,
  /**
   * A `u32` length in UTF-16 units follows. The UTF-8 text is located after all sets, following the previous
   * text.
   */
  DEFERRED: 7,
} as const

/*
 * Packs rows by column. The layout of a row batch (offsets from its start, numbers little-endian):
 *
 *  0  u32 rows          4  u32 columns       8  u32 string units in the heap   12  u32 flags (bit 0: wide)
 * 16  u32 heap offset  20  u32 BLOB offset  24  u32 byte length                28  u32 0
 * 32  u8 kind × columns, padded to 8; then one section per column, each padded to 8
 * Strings are stored in row order in one heap, as latin-1 or (wide) UTF-16. BLOBs follow the heap. See `Kind` for the sections.
 */

/** Bytes of the header of a row batch. */
export const ROW_BATCH_HEADER = 32

/** Rows in one row batch. */
export const ROW_BATCH_ROWS = 1024

/** The format of the cells of a column in one row batch. */
export const Kind = {
  /** `i32` × rows; NULL is `i32::MIN`, which no value of such a column equals. */
  INT32: 0,
  /** `f64` × rows; NULL is NaN. */
  FLOAT64: 1,
  /** `i32` length in string units × rows; NULL is −1. */
  TEXT: 2,
  /** `i32` length in bytes × rows; NULL is −1. */
  BLOB: 3,
  /** `i64` × rows; NULL is `i64::MIN`, which no value of such a column equals. */
  INT64: 4,
  /** 8 bytes × rows (`f64`, `i64`, or a length as `f64`), then `u8` tag × rows; see `cell`. */
  MIXED: 5,
} as const

/** NULL in a column of `Kind::Int32`, which never holds this value. */
export const NULL_INT32 = -2147483648

/** NULL in a column of `Kind::Int64`, which never holds this value. */
export const NULL_INT64 = -9223372036854775808n

/** Tags of the cells of a mixed column. */
export const Cell = {
  /** NULL. */
  NULL: 0,
  /** An `f64`. */
  NUMBER: 1,
  /** A string; its length as `f64`. */
  TEXT: 2,
  /** A BLOB; its length as `f64`. */
  BLOB: 3,
  /** An `i64`. */
  INT64: 4,
} as const
