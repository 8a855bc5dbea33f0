/** SQLite's result codes, by their names in node-sqlite3. */
export const CODES = {
  OK: 0,
  ERROR: 1,
  INTERNAL: 2,
  PERM: 3,
  ABORT: 4,
  BUSY: 5,
  LOCKED: 6,
  NOMEM: 7,
  READONLY: 8,
  INTERRUPT: 9,
  IOERR: 10,
  CORRUPT: 11,
  NOTFOUND: 12,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  EMPTY: 16,
  SCHEMA: 17,
  TOOBIG: 18,
  CONSTRAINT: 19,
  MISMATCH: 20,
  MISUSE: 21,
  NOLFS: 22,
  AUTH: 23,
  FORMAT: 24,
  RANGE: 25,
  NOTADB: 26,
} as const

/** The flags that say how a file is opened. They are the second argument of {@link Database}. */
export const OPEN_FLAGS = {
  OPEN_READONLY: 0x1,
  OPEN_READWRITE: 0x2,
  OPEN_CREATE: 0x4,
  OPEN_URI: 0x40,
  OPEN_FULLMUTEX: 0x10000,
  OPEN_SHAREDCACHE: 0x20000,
  OPEN_PRIVATECACHE: 0x40000,
} as const

/** The limits that `configure('limit', …)` of node-sqlite3 sets. */
export const LIMITS = {
  LIMIT_LENGTH: 0,
  LIMIT_SQL_LENGTH: 1,
  LIMIT_COLUMN: 2,
  LIMIT_EXPR_DEPTH: 3,
  LIMIT_COMPOUND_SELECT: 4,
  LIMIT_VDBE_OP: 5,
  LIMIT_FUNCTION_ARG: 6,
  LIMIT_ATTACHED: 7,
  LIMIT_LIKE_PATTERN_LENGTH: 8,
  LIMIT_VARIABLE_NUMBER: 9,
  LIMIT_TRIGGER_DEPTH: 10,
  LIMIT_WORKER_THREADS: 11,
} as const
