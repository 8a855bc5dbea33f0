import type { Database } from '../../database'

/** The form in which INTEGERs are returned: see {@link Config.intMode}. */
export type IntMode = 'number' | 'bigint' | 'string'

/**
 * The mode says what a transaction may do. `'write'` and `'deferred'` take the write lock when they begin; `'read'` reads one
 * committed state beside writes, and refuses to write.
 */
export type TransactionMode = 'write' | 'read' | 'deferred'

/** A value in a row. */
export type Value = null | string | number | bigint | ArrayBuffer

/** A value that can be passed. Booleans are stored as 1 and 0, dates as milliseconds since 1970. */
export type InValue = Value | boolean | Uint8Array | Date

/** The values of parameters, by position or by name, with or without `:`, `@` or `$`. */
export type InArgs = Array<InValue> | Record<string, InValue>

/** A statement, with or without parameters. */
export type InStatement = { sql: string; args?: InArgs } | string

/** A row, with its values by position and by column name. If a name occurs twice, the first of its columns counts. */
export interface Row {
  /** The number of columns. */
  length: number
  [index: number]: Value
  [name: string]: Value
}

/** The result of a statement. */
export interface ResultSet {
  /** The names of the columns. */
  columns: Array<string>
  /** The types of the columns, as they are declared in CREATE TABLE; empty for expressions. */
  columnTypes: Array<string>
  /** The rows. */
  rows: Array<Row>
  /** The number of rows that the statement inserted, changed or deleted. */
  rowsAffected: number
  /** The rowid of the row that was inserted last through the client; undefined for a statement that only reads. */
  lastInsertRowid: bigint | undefined
  /** The result as JSON, with rows as arrays, INTEGERs beyond 2^53 as text, and BLOBs in Base64. */
  // biome-ignore lint/suspicious/noExplicitAny: the type that `@libsql/client` declares
  toJSON(): any
}

/** The result that {@link Client.sync} would return. */
export type Replicated = { frame_no: number; frames_synced: number } | undefined

/** The configuration of {@link createClient}, as in `@libsql/client`. Options that only a server uses are ignored. */
export interface Config extends ClientOptions {
  /** `file:` and a path, or `:memory:`. With `file::memory:?cache=shared`, clients share a database in memory. */
  url: string
  /** The key of an encrypted file: see {@link OpenOptions.key}. */
  encryptionKey?: string | undefined
  /** The time in milliseconds for which a write waits for a lock of another process. Default: `5000`. */
  timeout?: number | undefined
  /** With `'full'`, commits are on the disk before they resolve: see {@link OpenOptions.durability}. Default: `'normal'`. */
  durability?: 'normal' | 'full' | undefined
  /** Refused: a replica needs a server. */
  syncUrl?: string | undefined
  syncInterval?: number | undefined
  readYourWrites?: boolean | undefined
  offline?: boolean | undefined
  authToken?: string | undefined
  remoteEncryptionKey?: string | undefined
  tls?: boolean | undefined
  fetch?: unknown
  concurrency?: number | undefined
}

/** The configuration of {@link createClient} for a database that is open. */
export interface DatabaseConfig extends ClientOptions {
  /** The database. `client.close()` closes it. With the `intMode`s `'bigint'` and `'string'`, it needs `integers: 'bigint'`. */
  database: Database
}

interface ClientOptions {
  /**
   * The form in which INTEGERs are returned. `'number'` (default): as numbers, with a `RangeError` for an integer beyond
   * 2^53. `'bigint'`: as bigints. `'string'`: as text.
   */
  intMode?: IntMode | undefined
  /**
   * The time in milliseconds after which a transaction is rolled back, counted from the moment when it gets the write lock.
   * Default: `60000`.
   */
  transactionTimeout?: number | undefined
  /**
   * The kind of `code` that errors of SQLite have. `'base'` (default): as in `@libsql/client` from 0.17 on, such as
   * `SQLITE_CONSTRAINT`. `'extended'`: as before, such as `SQLITE_CONSTRAINT_UNIQUE`.
   */
  errorCodes?: 'base' | 'extended' | undefined
}

/** A client, with the methods of a client of `@libsql/client`. */
export interface Client {
  /** Runs a statement. */
  execute(statement: InStatement): Promise<ResultSet>
  execute(sql: string, args?: InArgs): Promise<ResultSet>
  /** Runs statements in one trip and one transaction, all or nothing. An error is a {@link LibsqlBatchError}. */
  batch(statements: Array<InStatement | [string, InArgs?]>, mode?: TransactionMode): Promise<Array<ResultSet>>
  /** Runs statements like `batch`, but with foreign keys off. All foreign keys are checked before the commit. */
  migrate(statements: Array<InStatement>): Promise<Array<ResultSet>>
  /** Begins a transaction. Default of `mode`: `'write'`. */
  transaction(mode?: TransactionMode): Promise<Transaction>
  /** Runs a script, all or nothing unless it says `BEGIN` itself. */
  executeMultiple(sql: string): Promise<void>
  /** Rejects with the code `SYNC_NOT_SUPPORTED`, because this needs a server. */
  sync(): Promise<Replicated>
  /** Closes the database when the calls that run have ended. */
  close(): void
  /** Closes the database and opens it again. A client of an open database cannot do this. */
  reconnect(): void
  /** True after `close`. */
  readonly closed: boolean
  /** Always `'file'`. */
  readonly protocol: string
  /** The database of resqlite; undefined until the first call has opened it. */
  readonly database: Database | undefined
}

/** A transaction: see {@link Client.transaction}. */
export interface Transaction {
  /** Runs a statement. If it fails, the transaction goes on. */
  execute(statement: InStatement): Promise<ResultSet>
  execute(sql: string, args?: InArgs): Promise<ResultSet>
  /** Runs statements until one fails, with a {@link LibsqlBatchError}. */
  batch(statements: Array<InStatement | [string, InArgs?]>): Promise<Array<ResultSet>>
  /** Runs a script. */
  executeMultiple(sql: string): Promise<void>
  /** Commits. If that fails, everything is rolled back. */
  commit(): Promise<void>
  /** Rolls back. Does nothing if the transaction has ended. */
  rollback(): Promise<void>
  /** Rolls back without waiting. Does nothing if the transaction has ended. */
  close(): void
  /** True when the transaction has ended. */
  readonly closed: boolean
}
