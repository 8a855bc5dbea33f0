/// <reference lib="esnext.disposable" preserve="true" />
import { nativeBinding } from './wire/native'

export { AbortError, LimitError, ResqliteError, SqliteError, TransactionError } from './core/errors'
export type {
  AddedRow,
  ChangesOptions,
  Emission,
  EmissionReason,
  ExplainedTable,
  KeyColumn,
  LiveQuery,
  MovedRow,
  Patch,
  Query,
  QueryRows,
  RemovedRow,
  RowIn,
  StreamExplanation,
  StreamOptions,
  StreamPrecision,
  StreamRows,
  StreamStats,
  Unsubscribe,
  UpdatedRow,
} from './core/live-types'
export type {
  AbortOptions,
  ColumnValue,
  Diagnostics,
  ExecuteOptions,
  Integers,
  IterateOptions,
  LeaseHolder,
  OpenOptions,
  PragmaValue,
  QueryLimits,
  ReadOptions,
  Row,
  RowArray,
  SelectOptions,
  SessionHolder,
  SnapshotOptions,
  SqlParams,
  SqlValue,
  TransactionOptions,
  WriteResult,
} from './core/types'
export { Database } from './database'
export type { Snapshot } from './snapshot'
export type { Transaction } from './transaction'

/** Returns the version of the built-in SQLite, for example `'3.54.1'`. */
export function sqliteVersion(): string {
  return nativeBinding().sqliteVersion()
}
