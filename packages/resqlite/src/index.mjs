import resqlite from './index.js'

export const {
  AbortError,
  Database,
  LimitError,
  ResqliteError,
  SqliteError,
  SqlQuery,
  TransactionError,
  Utf8,
  sql,
  sqliteVersion,
} = resqlite
