import {
  AbortError,
  closedError,
  LimitError,
  ResqliteError,
  rangeError,
  SqliteError,
  TransactionError,
  typeError,
} from './errors'

/** An error as the native side describes it. */
export interface FailureReport {
  kind: string
  code: string
  message: string
  errno?: number
  /** Byte offset into the UTF-8 text of the statement. */
  offset?: number
  operation?: string
  limit?: LimitError['limit']
  /** For a write that was cancelled: the holder of the writer. */
  behind?: string
  /** For several statements or parameter sets: the position of the one that failed, counted from 0. */
  index?: number
  /** For a write that happened although the call failed: its commit. */
  commit?: number
}

/**
 * The outcome of a request that failed. Promises resolve with it as with any value. The error itself is created where the
 * caller waits, so that its stack trace leads to the caller.
 */
export class Failure {
  constructor(private readonly make: (sql: string | undefined) => Error) {}

  /** Creates the error. `sql` is the statement, if there was one. The stack trace begins at the caller of `at`. */
  toError(sql?: string, at: (...args: never[]) => unknown = this.toError): Error {
    const error = this.make(sql)
    // A stack trace holds ten frames by default; the frames that create the error would displace the caller's.
    Error.captureStackTrace?.(error, at)
    return error
  }
}

/** Returns the failure that the native side reported. `sqls`: the statements of a batch. */
export function reportedFailure(report: FailureReport, sqls?: readonly string[]): Failure {
  const { index } = report
  if (index === undefined)
    return new Failure((sql) => fromReport(report, sqls === undefined ? sql : undefined))
  return new Failure((sql) => {
    if (sqls === undefined) return Object.assign(fromReport(report, sql), { index })
    const own = sqls[index]
    return Object.assign(fromReport(report, own), { index, sql: own })
  })
}

class AbortFailure extends Failure {
  constructor(readonly reason: unknown) {
    super(() => new AbortError(reason))
  }
}

/** Returns the failure of a request that was cancelled through a signal. */
export function abortFailure(reason: unknown): Failure {
  return new AbortFailure(reason)
}

/** Adds to the failure of a cancelled request the holder of the writer for which it waited, if that is known. */
export function cancelledFailure(failure: Failure, behind: string | undefined): Failure {
  if (behind === undefined || !(failure instanceof AbortFailure)) return failure
  return new Failure(() => new AbortError(failure.reason, behind))
}

/** Returns the failure of a request that is interrupted because its database is being closed. */
export function closedFailure(path: string): Failure {
  return new Failure(() => closedError(path))
}

/**
 * Returns the failure of a request whose reply cannot be decoded, for example because a text is longer than a string can be.
 */
export function undecodableFailure(cause: unknown): Failure {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new Failure(() => new ResqliteError(message, 'RESQLITE_RESULT', { cause }))
}

/**
 * Returns the value of a request, or throws the error with which the request failed. The stack trace begins at the caller.
 */
export function unwrap<T>(outcome: unknown, sql?: string): T {
  if (outcome instanceof Failure) throw outcome.toError(sql, unwrap)
  return outcome as T
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
      if (code === 'RESQLITE_ABORTED') return new AbortError(undefined)
      return withCommit(new ResqliteError(message, code), report.commit)
  }
}

function withCommit(error: ResqliteError, commit: number | undefined): ResqliteError {
  return commit === undefined ? error : Object.assign(error, { commit })
}

/** Converts a byte offset in the UTF-8 form of a text to a string index. */
function stringIndex(text: string | undefined, bytes: number | undefined): number | undefined {
  if (text === undefined || bytes === undefined || bytes < 0) return undefined
  return Buffer.from(text, 'utf8').toString('utf8', 0, bytes).length
}
