/** All limits of the JavaScript side. Sizes are in bytes unless the name says otherwise. */

/** Memory into which the native module copies small replies. */
export const INBOX_BYTES = 256 * 1024

/** Initial size of a request buffer, to which it returns after a large request. */
export const REQUEST_BYTES = 64 * 1024

/** Size of the encoded requests of one tick beyond which they are handed over before more are encoded. */
export const FLUSH_BYTES = 256 * 1024

/** A request buffer that has grown larger than this is released after it was handed over. */
export const KEEP_BYTES = 1024 * 1024

/** Longest single TEXT or BLOB parameter, which is SQLite's own default limit. */
export const VALUE_BYTES = 1_000_000_000

/** Parameters of one statement. The frame counts them in 16 bits. */
export const MAX_PARAMETERS = 65_535

/** SQL texts that the native side knows by number at one time. */
export const KNOWN_TEXTS = 1_000

/** Total length of these texts, in UTF-16 units. */
export const KNOWN_TEXT_UNITS = 4 * 1024 * 1024

/** Longest time that one turn of the event loop spends on decoding replies, encoding a batch, sending events, or ending live queries. */
export const TURN_MILLISECONDS = 1

/** Turns of the event loop that are spent on polling for a reply: 20 to 30 microseconds when nothing else happens. */
export const POLL_TURNS = 24

/** Times that a query must have been quick before it is tried on the calling thread. */
export const QUICK_RUNS = 2

/** The most queries of one tick that run on the calling thread. */
export const TICK_QUERIES = 8

/**
 * Calls for which a query that was not quick on the calling thread is not tried there; twice as many after each further
 * attempt.
 */
export const INLINE_PAUSE = 32

/** Upper limit of these calls. */
export const INLINE_PAUSE_MAX = 1024

/** The most ticks in which no query is tried after failed attempts: the event loop is busy, or the database cannot do it. */
export const INLINE_VAIN_MAX = 63

/** Upper limit of the back-off: calls that skip polling after fruitless attempts. */
export const MAX_POLL_BACKOFF = 127

/** Payload beyond which a batch continues in a new frame. */
export const BATCH_FRAME_BYTES = 64 * 1024

/** Frames of a batch that may wait for the writer: the next is encoded when there are fewer. */
export const BATCH_FRAMES_WAITING = 64

/** Milliseconds after which a change feed looks for external commits again, if another process had the lock. */
export const EXTERNAL_LOOK_MILLISECONDS = 100

/** Milliseconds between two checks whether the writer has taken frames of a batch. */
export const BATCH_LOOK_MILLISECONDS = 1

/** Parameter sets between two readings of the clock while the caller's iterator makes them. */
export const BATCH_SETS_PER_LOOK = 8

/** Bytes of a database that are handed over per turn of the event loop, when it is opened from bytes. */
export const UPLOAD_BYTES = 1024 * 1024

/** Text up to this length (in UTF-16 units) is first tried as ASCII, unit by unit. */
export const SHORT_TEXT = 40

/** The same limit for text that is given as bytes. */
export const SHORT_BYTES = 100

/** Texts of a batch that are longer (in UTF-16 units) are written in place. */
export const DEFERRED_TEXT = 1024

/** Decoders that are generated per column layout; further combinations of kinds are interpreted. */
export const GENERATED_DECODERS = 8

/** Default `batchSize` of `iterate`, in rows. */
export const DEFAULT_BATCH_ROWS = 1_000

/** The most queries of one live query. */
export const STREAM_QUERIES = 100

/**
 * Places of a result up to which a patch that changes the positions of rows is applied by moving the rows behind each place.
 */
export const SPLICED_PLACES = 8

/** The most new rows of such a patch. */
export const SPLICED_ROWS = 1024

/** Segments of a patch up to which the new result is concatenated from pieces of the old one, instead of row by row. */
export const JOINED_SEGMENTS = 512

/** Largest `batchSize` of `iterate`. */
export const MAX_BATCH_ROWS = 1_000_000

/** Default `timeout` of `begin`, in milliseconds. */
export const BEGIN_MILLISECONDS = 60_000

/** Longest timeout in milliseconds, which is what a 32-bit timer can hold. */
export const MAX_MILLISECONDS = 2_147_483_647
