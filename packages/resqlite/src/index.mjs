import resqlite from './index.js'

export const { AbortError, Database, ResqliteError, SqliteError, TransactionError, sqliteVersion } = resqlite
