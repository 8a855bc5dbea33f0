/**
 * The base class of the errors of this library. Tell errors apart by `code`, which is stable; messages may change. If an
 * argument is wrong, a `TypeError` or `RangeError` with a `code` is thrown instead. If the native module cannot be loaded, a
 * plain `Error` is thrown. Codes that begin with `SQLITE_` are those of SQLite.
 *
 * | code | error | meaning |
 * | --- | --- | --- |
 * | `RESQLITE_ABORTED` | `AbortError` | The signal of the call fired. |
 * | `RESQLITE_BACKUP` | `ResqliteError` | A backup could not be made; nothing of it is left. Where SQLite gives a reason, the code is SQLite's. |
 * | `RESQLITE_FEED_LOST` | `ResqliteError` | A change feed cannot go on: commits that its consumer has not read are not kept any more, or the feed was removed. |
 * | `RESQLITE_CLIENTS` | `ResqliteError` | The live query has as many clients as the option `maxClients` of `resqlite/sse` allows. |
 * | `RESQLITE_CLOSED` | `ResqliteError` | The database is closed. |
 * | `RESQLITE_ENCRYPTION_KEY` | `ResqliteError` | The key is wrong or missing, the file is not encrypted, the native module cannot encrypt, or `rekey` is not possible now. |
 * | `RESQLITE_ENTRY_NOT_CARRIED` | `ResqliteError` | A table of resqlite's own (those of change feeds) would have changed. |
 * | `RESQLITE_FILES_LOST` | `ResqliteError` | A file of the open database was deleted or replaced. Close it and open it again. |
 * | `RESQLITE_INTEGER` | `RangeError` | With `integers: 'number'`: a number cannot hold this INTEGER. |
 * | `RESQLITE_KEY` | `ResqliteError` | The key of `patches` is not a column of the result, or two rows have the same key. |
 * | `RESQLITE_LEASES` | `ResqliteError` | 256 snapshots and iterators are open, all wait for their callers, and none ended within 5 s. |
 * | `RESQLITE_LIMIT` | `LimitError` | The query exceeded one of its `limits`. |
 * | `RESQLITE_OPEN` | `ResqliteError` | The database cannot be opened. Where SQLite gives a reason, the code is SQLite's. |
 * | `RESQLITE_OPTION` | `TypeError` | An option or an argument is unknown or has a wrong value, `open` contradicts the engine that is shared, or a loop begins over an iterator that is over. |
 * | `RESQLITE_PARAMETER` | `TypeError`, `RangeError` | A parameter is missing, unknown, too many, or cannot be bound. Nothing ran. |
 * | `RESQLITE_PROFILE` | `ResqliteError` | This native module has no counters (`resqlite/profile`). |
 * | `RESQLITE_QUEUE_FULL` | `ResqliteError` | Too many requests wait already. |
 * | `RESQLITE_READ_ONLY` | `ResqliteError` | The database is read-only, or a read was given a statement that writes. |
 * | `RESQLITE_RESULT` | `ResqliteError` | JavaScript cannot hold the result: a text is longer than a string can be, or two columns of a builder's query have the same name. |
 * | `RESQLITE_STATEMENT` | `TypeError`, `ResqliteError` | The SQL is not a string, is not exactly one statement, or is not allowed here. |
 * | `RESQLITE_TIMEOUT` | `ResqliteError` | A transaction or snapshot took longer than its `timeout`. |
 * | `RESQLITE_TRANSACTION` | `TransactionError`, `ResqliteError` | The state of the transaction or snapshot does not allow the call. |
 * | `RESQLITE_WORKER` | `ResqliteError` | A native thread failed and was replaced. The request may not have run. |
 */
export class ResqliteError extends Error {
  /** For example `'SQLITE_BUSY'` or `'RESQLITE_CLOSED'`. */
  readonly code: string
  /**
   * The position of the statement or parameter set that failed, counted from 0, where several were passed, as to `batch`,
   * `executeBatch` and `exec`. A `TypeError` or `RangeError` has this property, too. The messages of SQLite do not contain
   * the position.
   */
  declare readonly index?: number
  /**
   * The commit of a write that happened although the call failed. Errors with the code `RESQLITE_ANSWER_LOST` have it, in a
   * cluster.
   */
  declare readonly commit?: number

  constructor(message: string, code: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/**
 * A statement failed in SQLite. `code` is the name of SQLite's extended result code.
 *
 * ```ts
 * try {
 *   await db.execute('INSERT INTO users(email) VALUES (?)', [email])
 * } catch (error) {
 *   if (error instanceof SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE') return 'taken'
 *   throw error
 * }
 * ```
 */
export class SqliteError extends ResqliteError {
  /** SQLite's extended result code, for example 2067. */
  readonly errno: number
  /** The SQL text as it was passed. */
  readonly sql: string | undefined
  /** The string index in `sql` at which SQLite found the error, if known. */
  readonly offset: number | undefined

  constructor(message: string, code: string, errno: number, sql?: string, offset?: number) {
    super(message, code)
    this.errno = errno
    this.sql = sql
    this.offset = offset
  }
}

/** A transaction or snapshot was used in a state that does not allow it, for example after it had ended. */
export class TransactionError extends ResqliteError {
  /** The method that was called: `'execute'`, `'select'`, … */
  readonly operation: string

  constructor(
    message: string,
    operation: string,
    code = 'RESQLITE_TRANSACTION',
    options?: { cause?: unknown },
  ) {
    super(message, code, options)
    this.operation = operation
  }
}

/**
 * The call was cancelled through its signal. `cause` is the signal's reason. If a write waited for an open transaction, or
 * for a batch whose sets have not all arrived, the message names what it waited for.
 */
export class AbortError extends ResqliteError {
  constructor(reason: unknown, behind?: string) {
    const wait = behind === undefined ? '' : ` while it waited for ${behind}`
    super(`The operation was aborted${wait}`, 'RESQLITE_ABORTED', { cause: reason })
  }
}

/** A query exceeded one of its limits, see {@link QueryLimits}. */
export class LimitError extends ResqliteError {
  /** The limit that was exceeded. */
  readonly limit: 'time' | 'steps' | 'bytes'

  constructor(message: string, limit: LimitError['limit']) {
    super(message, 'RESQLITE_LIMIT')
    this.limit = limit
  }
}

// The names are on the prototypes, as with the built-in errors, so that creating an error costs nothing extra.
for (const type of [ResqliteError, SqliteError, TransactionError, AbortError, LimitError]) {
  Object.defineProperty(type.prototype, 'name', { value: type.name, writable: true, configurable: true })
}

/**
 * Creates a TypeError with a code. Its stack trace begins at the caller of `from`, because each of our own functions would
 * take one of its ten lines from the caller.
 */
export function typeError(
  message: string,
  code: string,
  from: (...args: never[]) => unknown = typeError,
): TypeError {
  return coded(new TypeError(message), code, from)
}

/** Creates a RangeError with a code, in the same way as `typeError`. */
export function rangeError(
  message: string,
  code: string,
  from: (...args: never[]) => unknown = rangeError,
): RangeError {
  return coded(new RangeError(message), code, from)
}

function coded<E extends Error>(error: E, code: string, from: (...args: never[]) => unknown): E {
  Error.captureStackTrace(error, from)
  return Object.assign(error, { code })
}

/** The code of errors of calls on a closed database. */
export const CLOSED = 'RESQLITE_CLOSED'

/** Creates the error for calls on a closed database. */
export function closedError(path: string): ResqliteError {
  return new ResqliteError(`The database ${JSON.stringify(path)} is closed`, CLOSED)
}
