/// <reference lib="esnext.disposable" preserve="true" />
import { nativeBinding } from './native'

export { Database } from './database'
export { AbortError, LimitError, ResqliteError, SqliteError, TransactionError } from './errors'
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
} from './live-types'
export type { Snapshot } from './snapshot'
export type { Transaction } from './transaction'
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
} from './types'

/** The version of the SQLite that is built in, for example `'3.54.1'`. */
export function sqliteVersion(): string {
  return nativeBinding().sqliteVersion()
}
