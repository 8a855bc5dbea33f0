import resqlite from './index.js'

export const {
  AbortError,
  Database,
  LimitError,
  ResqliteError,
  SqliteError,
  SqlQuery,
  TransactionError,
  sql,
  sqliteVersion,
} = resqlite
