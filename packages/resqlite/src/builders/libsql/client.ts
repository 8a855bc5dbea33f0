import type { QueryResult } from '../../core/query-types'
import type { RowArray } from '../../core/types'
import type { Database } from '../../database'
import { Connection, Pool } from '../connection'
import { withFacts } from '../facts'
import { foreignKeysPragma } from '../foreign-keys-pragma'
import { type ErrorOf, LibsqlError, libsqlError } from './errors'
import { type Opened, openAfter, opening } from './opening'
import { settled } from './pragma'
import { LibsqlResultSet, NOTHING } from './results'
import { ReadSession, WriteSession } from './sessions'
import { type Statement, statementOf } from './statements'
import { LibsqlTransaction } from './transaction'
import { changesRows, Turn } from './turn'
import type {
  Client,
  Config,
  DatabaseConfig,
  InArgs,
  InStatement,
  IntMode,
  Replicated,
  ResultSet,
  Transaction,
  TransactionMode,
} from './types'

/** A pool, and the function that closes its database. */
interface OpenPool {
  readonly pool: Pool
  close(): Promise<void>
}

export class LibsqlClient implements Client {
  readonly protocol = 'file'
  /** The URL; undefined for an open database, and for a database in memory, which no other client opens. */
  readonly #url: string | undefined
  readonly #open: (() => Promise<Opened>) | undefined
  readonly #intMode: IntMode
  readonly #timeout: number | undefined
  readonly #durable: boolean
  readonly #errorOf: ErrorOf
  /** The facts that SQLite would know if the client had a connection of its own. */
  readonly #facts = { last_insert_rowid: 0n, changes: 0 }
  readonly #turn = new Turn()
  #opened: Promise<OpenPool> | undefined
  #database: Database | undefined
  #closed = false

  constructor(config: Config | DatabaseConfig) {
    const { intMode = 'number', transactionTimeout, errorCodes } = config
    if (!['number', 'bigint', 'string'].includes(intMode)) {
      throw new TypeError(
        `Invalid value for intMode, expected "number", "bigint" or "string", got "${intMode}"`,
      )
    }
    this.#intMode = intMode
    this.#errorOf = (error, index) => libsqlError(error, errorCodes === 'extended', index)
    this.#timeout = transactionTimeout
    this.#durable = 'durability' in config && config.durability === 'full'
    if ('database' in config) {
      const db = config.database
      this.#database = db
      this.#opened = Promise.resolve({ pool: new Pool(db, transactionTimeout), close: () => db.close() })
    } else {
      this.#url = /:memory:/.test(config.url) ? undefined : config.url
      this.#open = opening(config)
    }
  }

  get closed(): boolean {
    return this.#closed
  }

  get database(): Database | undefined {
    return this.#database
  }

  async execute(statement: InStatement, args?: InArgs): Promise<ResultSet> {
    const { sql, params } = statementOf(statement, this.#intMode, args)
    return await this.#inTurn(sql, async (pool) => {
      const connection = new Connection(pool)
      try {
        const { sql: told, nameOf } = withFacts(sql, this.#facts)
        const result = settled(sql, this.#durable) ?? (await connection.query(told, params, { arrays: true }))
        if (told === sql) return this.#resultOf(result, sql)
        const columns = result.columns.map((column) => ({ ...column, name: nameOf(column.name) }))
        return this.#resultOf({ ...result, columns }, sql)
      } finally {
        await connection.close() // leaves PRAGMA foreign_keys to the pool
      }
    })
  }

  async batch(
    statements: readonly (InStatement | [string, InArgs?])[],
    mode: TransactionMode = 'deferred',
  ): Promise<ResultSet[]> {
    checkMode(mode)
    const run = statements.map((statement) => statementOf(statement, this.#intMode))
    return await this.#inTurn(BATCH, ({ db, foreignKeys }) =>
      this.#inTransaction(db, run, () => true, foreignKeys),
    )
  }

  async migrate(statements: readonly InStatement[]): Promise<ResultSet[]> {
    const run = statements.map((statement) => statementOf(statement, this.#intMode))
    return await this.#inTurn(BATCH, ({ db }) => this.#inTransaction(db, run, hasEffect, false))
  }

  /** Runs several statements, all or nothing: a value that cannot be converted rolls back, too. */
  #inTransaction(
    db: Database,
    run: readonly Statement[],
    isSent: (statement: Statement) => boolean,
    foreignKeys: boolean,
  ): Promise<ResultSet[]> {
    return db.transaction(
      async (tx) => {
        const results = await this.#inBatch(tx.batch(run.filter(isSent), { arrays: true }))
        return run.map((statement) => {
          return this.#resultOf(isSent(statement) ? results.shift() : NOTHING, statement.sql)
        })
      },
      { foreignKeys: foreignKeys ? undefined : false },
    )
  }

  async transaction(mode: TransactionMode = 'write'): Promise<Transaction> {
    checkMode(mode)
    return await this.#on(async (pool) => {
      const session = await (mode === 'read' ? ReadSession : WriteSession).begin(pool)
      return new LibsqlTransaction(session, {
        intMode: this.#intMode,
        resultOf: (result, sql) => this.#resultOf(result, sql),
        errorOf: this.#errorOf,
      })
    })
  }

  executeMultiple(sql: string): Promise<void> {
    return this.#inTurn(BATCH, (pool) => new Connection(pool).exec(sql))
  }

  async sync(): Promise<Replicated> {
    throw new LibsqlError('sync needs a server, and with it @libsql/client itself', 'SYNC_NOT_SUPPORTED')
  }

  close(): void {
    this.#closed = true
    const opened = this.#opened
    this.#opened = undefined
    this.#database = undefined
    const closed = opened?.then(({ close }) => close()).catch(() => {}) // the caller that opened the database got the error
    if (closed !== undefined && this.#url !== undefined) openAfter(closed, this.#url)
  }

  reconnect(): void {
    if (this.#open === undefined) {
      throw new LibsqlError('a client of an open database cannot open it again', 'CLIENT_CLOSED')
    }
    this.close()
    this.#closed = false
  }

  #inTurn<T>(sql: string, run: (pool: Pool) => Promise<T>): Promise<T> {
    return this.#turn.run(sql, () => this.#on(run))
  }

  async #on<T>(run: (pool: Pool) => Promise<T>): Promise<T> {
    if (this.#closed) throw new LibsqlError('The client is closed', 'CLIENT_CLOSED')
    try {
      return await run((await this.#pool()).pool)
    } catch (error) {
      throw this.#errorOf(error)
    }
  }

  /** Returns the pool. If its database cannot be opened, the next call tries again. */
  #pool(): Promise<OpenPool> {
    if (this.#opened !== undefined) return this.#opened
    const opened = this.#openPool()
    this.#opened = opened
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined
    })
    return opened
  }

  async #openPool(): Promise<OpenPool> {
    const { db, close } = await (this.#open as () => Promise<Opened>)()
    if (!this.#closed) this.#database = db
    return { pool: new Pool(db, this.#timeout), close }
  }

  /** Waits for the results of a batch. An error says which statement of the batch failed. */
  async #inBatch<T>(results: Promise<T>): Promise<T> {
    try {
      return await results
    } catch (error) {
      throw this.#errorOf(error, (error as { index?: number }).index)
    }
  }

  #resultOf(result: QueryResult<RowArray> = NOTHING, sql: string): ResultSet {
    const { lastInsertRowid, changes } = result
    if (lastInsertRowid) this.#facts.last_insert_rowid = BigInt(lastInsertRowid)
    if (changes > 0 || changesRows(sql)) this.#facts.changes = changes
    return new LibsqlResultSet(result, this.#intMode, this.#facts.last_insert_rowid)
  }
}

/** Stands for the SQL of a batch, in which some statements may write. */
const BATCH = ''

/**
 * Says whether a statement of a migration has to run. Migrations switch foreign keys off and on, but these are off anyway.
 */
function hasEffect({ sql }: Statement): boolean {
  return foreignKeysPragma(sql) === undefined
}

function checkMode(mode: string): void {
  if (['write', 'read', 'deferred'].includes(mode)) return
  throw new RangeError('Unknown transaction mode, supported values are "write", "read" and "deferred"')
}
