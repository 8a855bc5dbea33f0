import type { EmissionReason } from '../core/live-types'

/** The numbers of the binary protocol between JavaScript and the native module. */

/** Operations of request frames. */
export const Op = {
  DEFINE: 1,
  FORGET: 2,
  OPEN: 3,
  CLOSE: 4,
  SELECT: 5,
  EXECUTE: 6,
  BATCH: 7,
  CHUNK: 8,
  BATCH_ABORT: 9,
  EXEC: 10,
  BEGIN: 11,
  SAVEPOINT: 12,
  RELEASE: 13,
  ROLLBACK_TO: 14,
  COMMIT: 15,
  END: 16,
  ENDED: 17,
  SNAPSHOT: 18,
  CURSOR: 19,
  FETCH: 20,
  CANCEL: 21,
  DIAGNOSTICS: 22,
  STREAM: 23,
  UNSUBSCRIBE: 24,
  EXPLAIN_STREAM: 25,
} as const

/** Flags of request frames. Bits 0 and 1 hold the integer rule. */
export const Flag = {
  /** Only the first row is wanted. */
  FIRST: 4,
  /** The answer is JSON text. */
  JSON: 8,
  /** The target is a session, not a database handle. */
  SESSION: 16,
  /** The disk has the commit before it is acknowledged. */
  FULL: 32,
  /** More frames of this batch follow. */
  MORE: 64,
  /** Before the parameters stand the limits of the query: f64 milliseconds, steps, bytes; 0 for none. */
  LIMITS: 128,
} as const

/** The integer rule as flags. */
export const INTEGER_FLAGS = { auto: 0, number: 1, bigint: 2 } as const

/** Flag bits that hold the integer rule. */
export const INTEGERS_MASK = 3

/** Kinds of reply frames. */
export const Reply = {
  SHAPE: 1,
  ROWS: 2,
  WRITTEN: 3,
  BYTES: 4,
  ERROR: 5,
  JSON: 6,
  OK: 7,
  PATCH: 8,
  EMIT: 9,
} as const

/** Flags of reply frames. Bits 2 and 3 hold the carrier. */
export const ReplyFlag = { LAST: 1, END: 2 } as const

/** Where the payload of a reply stands. */
export const Carrier = { INLINE: 0, SLAB: 1, OWNED: 2 } as const

/** Tags of parameters. */
export const Tag = { NULL: 0, INT32: 1, INTEGER: 2, INT64: 3, REAL: 4, TEXT: 5, BLOB: 6 } as const

/** Kinds of columns in a slice. */
export const Kind = { INT32: 0, FLOAT64: 1, TEXT: 2, BLOB: 3, INT64: 4, MIXED: 5 } as const

/** Tags of cells in a MIXED column. */
export const Cell = { NULL: 0, NUMBER: 1, TEXT: 2, BLOB: 3, INT64: 4 } as const

/** The integer that stands for NULL in an INT32 column. */
export const NULL_INT32 = -2147483648

/** The integer that stands for NULL in an INT64 column. */
export const NULL_INT64 = -9223372036854775808n

/** Bytes of the header of every frame, request and reply. */
export const FRAME_HEADER = 16

/** Bytes of the header of a slice. */
export const SLICE_HEADER = 32

/** Why a live query ran, by the numbers of the native side. */
export const REASONS: readonly EmissionReason[] = [
  'first',
  'everything',
  'schema',
  'table',
  'columns',
  'rows',
]
