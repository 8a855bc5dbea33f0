/// <reference lib="esnext.disposable" preserve="true" />
import { nativeBinding } from './wire/native'

export type { ChangeFeed } from './commits/change-feed'
export { AbortError, LimitError, ResqliteError, SqliteError, TransactionError } from './core/errors'
// Every type in these files is public.
export type * from './core/feed-types'
export type * from './core/live-types'
export type * from './core/query-types'
export { type SqlPart, SqlQuery, sql } from './core/sql'
export type * from './core/trace-types'
export type * from './core/types'
export { Utf8 } from './core/utf8'
export { Database } from './database'
export type { Executor } from './statements/executor'
export type { Queryable } from './statements/queryable'
export type { Snapshot } from './transactions/snapshot'
export type { Transaction } from './transactions/transaction'
export type { TransactionHandle } from './transactions/transaction-handle'

/** Returns the version of the built-in SQLite, for example `'3.54.1'`. */
export function sqliteVersion(): string {
  return nativeBinding().sqliteVersion()
}
