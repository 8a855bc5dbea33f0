import { sqliteVersion } from 'resqlite'
import { CODES, LIMITS, OPEN_FLAGS } from './constants'

export { cached } from './cached'
export { Database } from './database'
export type { Failure } from './errors'
export { type RunResult, Statement } from './statement'
export type { DatabaseOptions } from './store'

export const { OPEN_READONLY, OPEN_READWRITE, OPEN_CREATE, OPEN_URI } = OPEN_FLAGS
export const { OPEN_FULLMUTEX, OPEN_SHAREDCACHE, OPEN_PRIVATECACHE } = OPEN_FLAGS
export const { OK, ERROR, INTERNAL, PERM, ABORT, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT } = CODES
export const { IOERR, CORRUPT, NOTFOUND, FULL, CANTOPEN, PROTOCOL, EMPTY, SCHEMA, TOOBIG } = CODES
export const { CONSTRAINT, MISMATCH, MISUSE, NOLFS, AUTH, FORMAT, RANGE, NOTADB } = CODES
export const { LIMIT_LENGTH, LIMIT_SQL_LENGTH, LIMIT_COLUMN, LIMIT_EXPR_DEPTH } = LIMITS
export const { LIMIT_COMPOUND_SELECT, LIMIT_VDBE_OP, LIMIT_FUNCTION_ARG, LIMIT_ATTACHED } = LIMITS
export const { LIMIT_LIKE_PATTERN_LENGTH, LIMIT_VARIABLE_NUMBER, LIMIT_TRIGGER_DEPTH } = LIMITS
export const { LIMIT_WORKER_THREADS } = LIMITS

/** The version of the SQLite that is built into resqlite, for example `'3.54.1'`. */
export const VERSION: string = sqliteVersion()
/** The same version as a number: `3054001`. */
export const VERSION_NUMBER: number = VERSION.split('.').reduce((sum, part) => sum * 1000 + Number(part), 0)
/** Empty. In node-sqlite3, this is the identifier of SQLite's sources. */
export const SOURCE_ID = ''
