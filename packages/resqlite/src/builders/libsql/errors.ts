import { CLOSED, ResqliteError, SqliteError } from '../../core/errors'

/** An error of the client, with the codes of `@libsql/client`. `cause` is the error of resqlite. */
export class LibsqlError extends Error {
  /** SQLite's name of the error, such as `SQLITE_CONSTRAINT`, or one of the client's, such as `TRANSACTION_CLOSED`. */
  readonly code: string
  /** The name of SQLite's extended result code, such as `SQLITE_CONSTRAINT_UNIQUE`, or the code of resqlite. */
  readonly extendedCode: string | undefined
  /** SQLite's extended result code, such as 2067. */
  readonly rawCode: number | undefined

  constructor(message: string, code: string, extendedCode?: string, rawCode?: number, cause?: Error) {
    super(`${code}: ${message}`, { cause })
    this.code = code
    this.extendedCode = extendedCode
    this.rawCode = rawCode
    this.name = 'LibsqlError'
  }
}

/** The error of a batch in which a statement failed. */
export class LibsqlBatchError extends LibsqlError {
  /** The position of the failed statement in the batch, from 0. */
  readonly statementIndex: number

  constructor(
    message: string,
    statementIndex: number,
    code: string,
    extendedCode?: string,
    rawCode?: number,
    cause?: Error,
  ) {
    super(message, code, extendedCode, rawCode, cause)
    this.statementIndex = statementIndex
    this.name = 'LibsqlBatchError'
  }
}

/** The codes of errors that are not SQLite's. */
const CODES: Readonly<Record<string, readonly [code: string, rawCode?: number]>> = {
  [CLOSED]: ['CLIENT_CLOSED'],
  RESQLITE_READ_ONLY: ['SQLITE_READONLY', 8],
  RESQLITE_OPEN: ['SQLITE_CANTOPEN', 14],
  RESQLITE_STATEMENT: ['SQLITE_ERROR', 1],
  RESQLITE_TRANSACTION: ['SQLITE_ERROR', 1],
}

/** Makes an error of the client from an error of resqlite. `index`: the position of the statement in a batch. */
export type ErrorOf = (error: unknown, index?: number) => unknown

/**
 * Makes an error of the client from an error of resqlite. Other errors, such as those about wrong arguments, stay as they
 * are.
 */
export function libsqlError(error: unknown, extended: boolean, index?: number): unknown {
  if (error instanceof LibsqlError || !isOfResqlite(error)) return error
  const { message, code: extendedCode } = error
  const [code, rawCode] = codesOf(error, extended)
  if (index === undefined) return new LibsqlError(message, code, extendedCode, rawCode, error)
  return new LibsqlBatchError(message, index, code, extendedCode, rawCode, error)
}

export function transactionClosed(cause?: Error): LibsqlError {
  const message = cause?.message ?? 'The transaction is closed'
  return new LibsqlError(message, 'TRANSACTION_CLOSED', undefined, undefined, cause)
}

/** Says whether resqlite made the error. For SQL that is not one statement, resqlite throws a TypeError. */
function isOfResqlite(error: unknown): error is Error & { readonly code: string } {
  return error instanceof ResqliteError || (error as { code?: string })?.code === 'RESQLITE_STATEMENT'
}

/** Matches the name of SQLite's result code, without the part that extends it. */
const BASE = /^SQLITE_[A-Z]+/

function codesOf(error: Error & { readonly code: string }, extended: boolean): readonly [string, number?] {
  const base = BASE.exec(error.code)?.[0]
  if (base === undefined) return CODES[error.code] ?? [error.code]
  return [extended ? error.code : base, error instanceof SqliteError ? error.errno : undefined]
}
