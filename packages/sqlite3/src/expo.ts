// The subpath `@resqlite/sqlite3/expo`.
import type { Row } from 'resqlite'
import { Database } from './database'
import { asTheirs } from './errors'
import { given } from './params'
import { internals } from './statement'
import type { Result } from './store'
import { firstWord, runsAlone } from './words'

/** The result of a statement. */
export interface SQLiteRunResult {
  /** The number of rows that the statement has changed. */
  readonly changes: number
  /** The rowid of the last row that this database has inserted; a bigint beyond 2⁵³, as in the rows. */
  readonly lastInsertRowId: number
}

/** The result of a prepared statement. */
export interface SQLiteExecuteAsyncResult extends SQLiteRunResult, AsyncIterable<Row> {
  getFirstAsync(): Promise<Row | null>
  getAllAsync(): Promise<Row[]>
}

/** A prepared statement. */
export class SQLiteStatement {
  readonly #execute: (params: unknown[]) => Promise<Result>

  /** @internal */
  constructor(execute: (params: unknown[]) => Promise<Result>) {
    this.#execute = execute
  }

  /** Runs the statement. The parameters are an array, an object, or the values themselves. */
  async executeAsync(...params: unknown[]): Promise<SQLiteExecuteAsyncResult> {
    const { rows, changes, lastID } = await this.#execute(params)
    return {
      changes,
      lastInsertRowId: lastID,
      getFirstAsync: async () => rows[0] ?? null,
      getAllAsync: async () => rows,
      async *[Symbol.asyncIterator]() {
        yield* rows
      },
    }
  }

  /** Does nothing, because the statement holds no resources. */
  async finalizeAsync(): Promise<void> {}
}

/** A database with the asynchronous part of the API of expo-sqlite, for which TypeORM 1 has a driver. */
export class SQLiteDatabase {
  readonly #db: Database

  /** @internal */
  constructor(db: Database) {
    this.#db = db
  }

  /** Runs a script. */
  execAsync(script: string): Promise<void> {
    return settled((done) => this.#db.exec(script, done))
  }

  async runAsync(sql: string, ...params: unknown[]): Promise<SQLiteRunResult> {
    const { changes, lastID } = await this.#execute(sql, params)
    return { changes, lastInsertRowId: lastID }
  }

  async getFirstAsync<T = Row>(sql: string, ...params: unknown[]): Promise<T | null> {
    const { rows } = await this.#execute(sql, params)
    return (rows[0] as T | undefined) ?? null
  }

  async getAllAsync<T = Row>(sql: string, ...params: unknown[]): Promise<T[]> {
    const { rows } = await this.#execute(sql, params)
    return rows as T[]
  }

  async prepareAsync(sql: string): Promise<SQLiteStatement> {
    await settled((done) => this.#db.prepare(sql, done).finalize())
    return new SQLiteStatement((params) => this.#execute(sql, params))
  }

  closeAsync(): Promise<void> {
    return settled((done) => this.#db.close(done))
  }

  #execute(sql: string, args: unknown[]): Promise<Result> {
    const { schedule, store } = this.#db[internals]
    const { params = [] } = given(args)
    return new Promise((resolve, reject) => {
      const work = () => store.run(sql, params).then(resolve, (error) => reject(asTheirs(error)))
      schedule.add({ alone: runsAlone(firstWord(sql)), work, refuse: reject })
    })
  }
}

/**
 * Opens a database.
 *
 * ```js
 * import * as expo from '@resqlite/sqlite3/expo'
 *
 * const source = new DataSource({ type: 'expo', driver: expo, database: 'app.db', entities })
 * ```
 */
export async function openDatabaseAsync(name: string): Promise<SQLiteDatabase> {
  let db!: Database
  await settled((done) => {
    db = new Database(name, done)
  })
  return new SQLiteDatabase(db)
}

function settled(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => start((error) => (error ? reject(error) : resolve())))
}
