import { DriverAdapterError, type MappedError } from '@prisma/driver-adapter-utils'
import { CLOSED, ResqliteError, SqliteError, TransactionError } from '../../core/errors'

/** Settles as the promise does, but rejects with Prisma's error where Prisma has one. */
export async function reported<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise
  } catch (error) {
    throw prismaError(error)
  }
}

function prismaError(error: unknown): unknown {
  if (!(error instanceof ResqliteError)) return error
  const mapped = error instanceof SqliteError ? sqliteError(error) : stateError(error)
  if (mapped === undefined) return error
  return new DriverAdapterError({ originalCode: error.code, originalMessage: error.message, ...mapped })
}

function stateError(error: ResqliteError): MappedError | undefined {
  if (error.code === CLOSED) return { kind: 'ConnectionClosed' }
  if (error instanceof TransactionError) return { kind: 'TransactionAlreadyClosed', cause: error.message }
  return undefined
}

function sqliteError({ code, errno, message }: SqliteError): MappedError {
  // Only the message distinguishes a RESTRICT from an error that a trigger raises.
  if (message.startsWith('FOREIGN KEY constraint failed')) {
    return { kind: 'ForeignKeyConstraintViolation', constraint: { foreignKey: {} } }
  }
  switch (code) {
    case 'SQLITE_CONSTRAINT_UNIQUE':
    case 'SQLITE_CONSTRAINT_PRIMARYKEY':
    case 'SQLITE_CONSTRAINT_ROWID':
      return { kind: 'UniqueConstraintViolation', ...unique(message) }
    case 'SQLITE_CONSTRAINT_NOTNULL':
      return { kind: 'NullConstraintViolation', constraint: { fields: failed(message).map(field) } }
  }
  if (code.startsWith('SQLITE_BUSY')) return { kind: 'SocketTimeout' }
  return missing(message) ?? { kind: 'sqlite', extendedCode: errno, message }
}

/** Returns the error for a missing table or column. Only the text of SQLite's message says what is missing. */
function missing(message: string): MappedError | undefined {
  const table = /^no such table: (.+)/.exec(message)?.[1]
  if (table !== undefined) return { kind: 'TableDoesNotExist', table }
  const column = /^no such column: (.+)/.exec(message)?.[1] ?? /has no column named (.+)/.exec(message)?.[1]
  return column === undefined ? undefined : { kind: 'ColumnNotFound', column }
}

/** Returns `table.column` for each column that failed, or `index 'name'` for an index on expressions. */
function failed(message: string): string[] {
  return message.replace(/^.*constraint failed: /, '').split(', ')
}

function unique(message: string) {
  const [first = '', ...others] = failed(message)
  const index = /^index '(.*)'$/.exec(first)?.[1]
  if (index !== undefined) return { constraint: { index } }
  return {
    constraint: { fields: [first, ...others].map(field) },
    table: first.slice(0, first.lastIndexOf('.')),
  }
}

function field(column: string): string {
  return column.slice(column.lastIndexOf('.') + 1)
}
