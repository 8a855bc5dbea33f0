import resqlite from './index.js'

export const {
  AbortError,
  Database,
  LimitError,
  ResqliteError,
  SqliteError,
  TransactionError,
  sqliteVersion,
} = resqlite
