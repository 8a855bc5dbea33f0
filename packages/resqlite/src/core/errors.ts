/**
 * The base class of the errors of this library. Programs tell errors apart by `code`; messages may change. Where an
 * argument is wrong, a `TypeError` or `RangeError` with a `code` is thrown instead, and a native module that cannot be
 * loaded is a plain `Error`. Codes that begin with `SQLITE_` are those of SQLite.
 *
 * | code | error | meaning |
 * | --- | --- | --- |
 * | `RESQLITE_ABORTED` | `AbortError` | The signal of the call fired. |
 * | `RESQLITE_CLOSED` | `ResqliteError` | The database is closed. |
 * | `RESQLITE_FILES_LOST` | `ResqliteError` | A file of the open database was deleted or replaced. Close it and open it again. |
 * | `RESQLITE_INTEGER` | `RangeError` | With `integers: 'number'`: a number cannot hold this INTEGER. |
 * | `RESQLITE_KEY` | `ResqliteError` | The key of `changes` is not a column of the result, or two rows have the same key. |
 * | `RESQLITE_LEASES` | `ResqliteError` | 256 snapshots and iterators are open, all wait for their callers, and none ended within 5 s. |
 * | `RESQLITE_LIMIT` | `LimitError` | The query exceeded one of its `limits`. |
 * | `RESQLITE_OPEN` | `ResqliteError` | The database cannot be opened. Where SQLite gives a reason, the code is SQLite's. |
 * | `RESQLITE_OPTION` | `TypeError` | An option or an argument is unknown or has a wrong value, or `open` contradicts the engine that is shared. |
 * | `RESQLITE_PARAMETER` | `TypeError`, `RangeError` | A parameter is missing, unknown, too many, or cannot be bound. Nothing ran. |
 * | `RESQLITE_PROFILE` | `ResqliteError` | This native module has no counters (`resqlite/profile`). |
 * | `RESQLITE_QUEUE_FULL` | `ResqliteError` | Too many requests wait already. |
 * | `RESQLITE_READ_ONLY` | `ResqliteError` | The database is read-only, or a read was given a statement that writes. |
 * | `RESQLITE_STATEMENT` | `TypeError`, `ResqliteError` | The SQL is not a string, is not exactly one statement, or is not allowed here. |
 * | `RESQLITE_TIMEOUT` | `ResqliteError` | A transaction or snapshot took longer than its `timeout`. |
 * | `RESQLITE_TRANSACTION` | `TransactionError`, `ResqliteError` | The state of the transaction or snapshot does not allow the call. |
 * | `RESQLITE_WORKER` | `ResqliteError` | A native thread failed and was replaced. The request may not have run. |
 */
export class ResqliteError extends Error {
  /** Names the error for programs. */
  readonly code: string

  constructor(message: string, code: string, options?: { cause?: unknown }) {
    super(message, options)
    this.code = code
  }
}

/**
 * SQLite refused a statement.
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
  /** The statement, as it was given. */
  readonly sql: string | undefined
  /** Where in `sql` SQLite saw the error (a string index), if it said so. */
  readonly offset: number | undefined

  constructor(message: string, code: string, errno: number, sql?: string, offset?: number) {
    super(message, code)
    this.errno = errno
    this.sql = sql
    this.offset = offset
  }
}

/** A transaction (or snapshot) was used in a way that its state does not allow. */
export class TransactionError extends ResqliteError {
  /** What was tried: `'execute'`, `'select'`, … */
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

/** The call was given up through its signal. `cause` is the signal's reason. */
export class AbortError extends ResqliteError {
  constructor(reason: unknown) {
    super('The operation was aborted', 'RESQLITE_ABORTED', { cause: reason })
  }
}

/** A query exceeded one of its limits, see {@link QueryLimits}. */
export class LimitError extends ResqliteError {
  /** The limit that it exceeded. */
  readonly limit: 'time' | 'steps' | 'bytes'

  constructor(message: string, limit: LimitError['limit']) {
    super(message, 'RESQLITE_LIMIT')
    this.limit = limit
  }
}

// On the prototypes, as in the language itself: no own property, nothing to pay per error.
for (const type of [ResqliteError, SqliteError, TransactionError, AbortError, LimitError]) {
  Object.defineProperty(type.prototype, 'name', { value: type.name, writable: true, configurable: true })
}

/** A TypeError with a code. */
export function typeError(message: string, code: string): TypeError {
  return Object.assign(new TypeError(message), { code })
}

/** A RangeError with a code. */
export function rangeError(message: string, code: string): RangeError {
  return Object.assign(new RangeError(message), { code })
}

/** The code of what a closed database refuses. */
export const CLOSED = 'RESQLITE_CLOSED'

/** The error of a database that was closed. */
export function closedError(path: string): ResqliteError {
  return new ResqliteError(`The database ${JSON.stringify(path)} is closed`, CLOSED)
}

/** How the native side describes an error. */
export interface FailureReport {
  kind: string
  code: string
  message: string
  errno?: number
  /** Byte offset into the UTF-8 text of the statement. */
  offset?: number
  operation?: string
  limit?: LimitError['limit']
}

/**
 * A request that failed. It travels through promises as a value, and the error is made where the caller waits,
 * so that its stack leads there.
 */
export class Failure {
  constructor(private readonly make: (sql: string | undefined) => Error) {}

  /** The error; `sql` is the statement, if there was one. Its stack begins at the caller of `at`. */
  toError(sql?: string, at: (...args: never[]) => unknown = this.toError): Error {
    const error = this.make(sql)
    // Ten frames are all that a stack has; those of making the error would only push the caller out.
    Error.captureStackTrace?.(error, at)
    return error
  }
}

/** The failure that the native side reported. */
export function reported(report: FailureReport): Failure {
  return new Failure((sql) => fromReport(report, sql))
}

/** The failure of a request that was given up through a signal. */
export function aborted(reason: unknown): Failure {
  return new Failure(() => new AbortError(reason))
}

/** The failure of a request that a closing database does not wait for. */
export function closed(path: string): Failure {
  return new Failure(() => closedError(path))
}

function fromReport(report: FailureReport, sql: string | undefined): Error {
  const { kind, code, message } = report
  switch (kind) {
    case 'sqlite':
      return new SqliteError(message, code, report.errno ?? 1, sql, stringIndex(sql, report.offset))
    case 'transaction':
      return new TransactionError(message, report.operation ?? '', code)
    case 'limit':
      return new LimitError(message, report.limit ?? 'time')
    case 'type':
      return typeError(message, code)
    case 'range':
    case 'parameter':
      return rangeError(message, code)
    default:
      return code === 'RESQLITE_ABORTED' ? new AbortError(undefined) : new ResqliteError(message, code)
  }
}

/** The index in a string that stands at a byte offset of its UTF-8 form. */
function stringIndex(text: string | undefined, bytes: number | undefined): number | undefined {
  if (text === undefined || bytes === undefined || bytes < 0) return undefined
  return Buffer.from(text, 'utf8').toString('utf8', 0, bytes).length
}
