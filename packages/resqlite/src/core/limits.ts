/** Every bound of the JavaScript side in one place. Sizes are bytes unless the name says otherwise. */

/** Memory into which the native module copies small replies. */
export const INBOX_BYTES = 256 * 1024

/** Size with which a request buffer starts, and to which it returns after something large. */
export const REQUEST_BYTES = 64 * 1024

/** A tick that has encoded this much hands it over before it encodes more. */
export const FLUSH_BYTES = 256 * 1024

/** A request buffer larger than this is let go after it was handed over. */
export const KEEP_BYTES = 1024 * 1024

/** Longest single TEXT or BLOB parameter: what SQLite itself accepts by default. */
export const VALUE_BYTES = 1_000_000_000

/** Parameters of one statement; the frame counts them in 16 bits. */
export const MAX_PARAMETERS = 65_535

/** SQL texts known to the native side at one time. */
export const KNOWN_TEXTS = 1_000

/** Length of all known SQL texts together, in UTF-16 units. */
export const KNOWN_TEXT_UNITS = 4 * 1024 * 1024

/** Longest part of one event-loop turn that is spent on decoding replies, or on encoding a batch. */
export const TURN_MILLISECONDS = 1

/** Turns of an event loop that has nothing to do for which it stays awake for an answer: 20 to 30 microseconds. */
export const LOOKOUT_TURNS = 24

/** Calls, at most, that go by without that after it was in vain. */
export const LOOKOUT_PAUSE = 127

/** Payload after which a batch goes on in a new frame. */
export const BATCH_FRAME_BYTES = 64 * 1024

/** Text up to this length (UTF-16 units) is first tried as ASCII, unit by unit. */
export const SHORT_TEXT = 40

/** Decoders generated per column list before the generic one takes over. */
export const GENERATED_DECODERS = 8

/** Rows per batch of `iterate` when the caller gives no `batchSize`. */
export const DEFAULT_BATCH_ROWS = 1_000

/** Queries of one stream at most. */
export const STREAM_QUERIES = 100

/** Runs of a patch up to which the new result is joined from pieces of the old one, instead of row by row. */
export const JOINED_RUNS = 512

/** Largest `batchSize` of `iterate`. */
export const MAX_BATCH_ROWS = 1_000_000

/** Largest number of milliseconds that a timeout may have (what a 32-bit timer can hold). */
export const MAX_MILLISECONDS = 2_147_483_647
