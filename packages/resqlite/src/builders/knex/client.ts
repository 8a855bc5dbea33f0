import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Knex } from 'knex'
import { TransactionError } from '../../core/errors'
import type { QueryResult } from '../../core/query-types'
import type { SqlValue } from '../../core/types'
import { Database } from '../../database'
import { Pool } from '../connection'
import { transactionStep } from '../transaction-step'
import { KnexConnection, type Place } from './connection'
import { tellingCommits } from './transaction'

const { version }: { version: string } = require('knex/package.json')
if (Number.parseInt(version, 10) < 3) {
  throw new Error(`resqlite/knex needs Knex 3, not ${version}: npm install knex@latest`)
}

// Knex has no types for its clients for particular databases.
const SqliteClient: typeof Knex.Client = require('knex/lib/dialects/sqlite3')

/** The `connection` of a configuration of Knex with a {@link ResqliteClient}. Either `database` or `filename` must be set. */
export interface ResqliteConnectionConfig {
  /** An open database. `knex.destroy()` closes it. */
  readonly database?: Database | undefined
  /** The file to open. */
  readonly filename?: string | undefined
  /**
   * The time in milliseconds after which a transaction is rolled back, counted from the moment when it gets the write lock.
   * Default: `60000`.
   */
  readonly transactionTimeout?: number | undefined
}

/** A statement that Knex passes to its clients, and later its result. */
interface Statement {
  readonly sql: string
  readonly bindings?: readonly unknown[]
  /** If it is true, the statement is cancelled when its `timeout` is over. */
  readonly cancelOnTimeout?: boolean
  response?: unknown
  context?: { readonly lastID: number | bigint; readonly changes: number }
}

/**
 * A client of Knex that runs on resqlite.
 *
 * ```ts
 * const knex = Knex({ client: ResqliteClient, connection: { filename: 'app.db' }, useNullAsDefault: true })
 * ```
 */
export class ResqliteClient extends SqliteClient {
  #pool: Promise<Pool> | undefined

  constructor(config: Knex.Config) {
    super(withFilename(config))
  }

  /** Returns an empty object: Knex asks for the module of a driver, and there is none. */
  _driver(): object {
    return {}
  }

  /**
   * Allows many connections, so that waiting transactions do not keep reads waiting. A connection is only an object, so their
   * number does not matter.
   */
  override poolDefaults(): { min: number; max: number; propagateCreateError: boolean } {
    return { ...super.poolDefaults(), min: 0, max: 1000 }
  }

  override async acquireRawConnection(): Promise<Place> {
    this.#pool ??= openPool(this.connectionSettings)
    return { pool: await this.#pool }
  }

  override async destroyRawConnection(): Promise<void> {}

  override async destroy(callback?: (error?: unknown) => void): Promise<void> {
    await super.destroy(undefined)
    const pool = await this.#pool
    await pool?.db.close()
    callback?.()
  }

  // Knex calls the methods below on objects that have only the prototype of a client.

  /**
   * Gives each user a connection of its own. Knex gives the connection of a stream back twice. The second time, it would
   * otherwise belong to another user already.
   */
  override async acquireConnection(): Promise<KnexConnection> {
    return new KnexConnection(await super.acquireConnection())
  }

  /** Gives a connection back. Does nothing if it was given back before. */
  override releaseConnection(connection: KnexConnection): Promise<void> {
    const released = this._release(connection)
    released.catch(() => {}) // Knex waits for this if a statement left a transaction open, but not if a transaction ends
    return released
  }

  private async _release(connection: KnexConnection): Promise<void> {
    if (connection.closed) return
    const leftOpen = connection.transaction?.open
    try {
      await connection.close()
    } finally {
      await super.releaseConnection(connection.place)
    }
    if (leftOpen) {
      const message = 'the transaction was rolled back, because its connection went back to the pool with it'
      throw new TransactionError(`BEGIN: ${message}; use knex.transaction`, 'begin')
    }
  }

  override transaction(container: unknown, config: unknown, outer: unknown): Knex.Transaction {
    return tellingCommits(super.transaction(container, config, outer))
  }

  async _query(connection: KnexConnection, statement: Statement): Promise<Statement> {
    const step = transactionStep(statement.sql)
    if (step !== undefined) {
      await step(connection)
      statement.response = []
      return statement
    }
    if (!statement.sql) throw new Error('The query is empty')
    connection.cancel = statement.cancelOnTimeout ? new AbortController() : undefined
    const options = { signal: connection.cancel?.signal }
    const result = await connection.query(statement.sql, bindingsOf(statement), options)
    const { changes, lastInsertRowid } = result
    statement.response = responseOf(result)
    statement.context = { lastID: lastInsertRowid, changes }
    return statement
  }

  async _stream(connection: KnexConnection, statement: Statement, stream: Transform): Promise<void> {
    await pipeline(connection.executor.iterate(statement.sql, bindingsOf(statement)), stream)
  }

  override async cancelQuery(connection?: KnexConnection): Promise<void> {
    connection?.cancel?.abort()
  }
}

Object.assign(ResqliteClient.prototype, { driverName: 'resqlite', canCancelQuery: true })

/** Adds a `filename`, because Knex warns if there is none. */
function withFilename(config: Knex.Config): Knex.Config {
  const { connection } = config
  if (typeof connection !== 'object') return config
  const { database, filename = database?.path } = connection as ResqliteConnectionConfig
  return { ...config, connection: { ...connection, filename } as Knex.StaticConnectionConfig }
}

async function openPool(settings: object): Promise<Pool> {
  const { database, filename, transactionTimeout } = settings as ResqliteConnectionConfig
  if (database === undefined && filename === undefined) {
    throw new TypeError('ResqliteClient: connection needs a database or a filename')
  }
  return new Pool(database ?? (await Database.open(filename as string)), transactionTimeout)
}

/** Returns the rows. For a statement without rows, returns its changes, as Knex's client for better-sqlite3 does. */
function responseOf({ rows, columns, changes, lastInsertRowid }: QueryResult): unknown {
  return columns.length > 0 ? rows : { changes, lastInsertRowid }
}

function bindingsOf({ bindings = [] }: Statement): SqlValue[] {
  return bindings.map(toSqlValue)
}

/** Converts a binding. Knex stores dates as milliseconds, and passes undefined where a row of an insert lacks a column. */
function toSqlValue(binding: unknown): SqlValue {
  if (binding === undefined) return null
  return binding instanceof Date ? binding.valueOf() : (binding as SqlValue)
}
