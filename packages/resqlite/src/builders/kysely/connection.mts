import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { QueryResult as Result } from '../../core/query-types.js'
import type { AbortOptions, SqlValue } from '../../core/types.js'
import type { Connection } from '../connection.js'
import { TransactionStep } from './transaction-step.mjs'

/** The rowid of the row that was inserted last through a dialect, as `last_insert_rowid()` of its connection would be. */
export interface LastInsert {
  rowid: bigint
}

export class KyselyConnection implements DatabaseConnection {
  readonly connection: Connection
  readonly #lastInsert: LastInsert
  /** Cancels the statement that runs, if it was called with a signal. */
  #cancel: AbortController | undefined

  constructor(connection: Connection, lastInsert: LastInsert) {
    this.connection = connection
    this.#lastInsert = lastInsert
  }

  async executeQuery<R>(query: CompiledQuery, options?: AbortOptions): Promise<QueryResult<R>> {
    if (query instanceof TransactionStep) {
      await query.run()
      return { rows: [] }
    }
    // Kysely stops waiting when the signal fires. What becomes of the statement, it decides by `cancelQuery`.
    this.#cancel = options?.signal === undefined ? undefined : new AbortController()
    const params = query.parameters as readonly SqlValue[]
    return this.#resultOf(await this.connection.query(query.sql, params, { signal: this.#cancel?.signal }))
  }

  async cancelQuery(): Promise<void> {
    this.#cancel?.abort()
  }

  async *streamQuery<R>(
    { sql, parameters }: CompiledQuery,
    chunkSize: number,
    options?: AbortOptions,
  ): AsyncIterableIterator<QueryResult<R>> {
    const params = parameters as readonly SqlValue[]
    const { executor } = this.connection
    const rows = executor.iterate(sql, params, { batchSize: chunkSize, signal: options?.signal })
    let chunk: R[] = []
    for await (const row of rows) {
      chunk.push(row as R)
      if (chunk.length < chunkSize) continue
      yield { rows: chunk }
      chunk = []
    }
    if (chunk.length > 0) yield { rows: chunk }
  }

  /** `insertId` is as in Kysely's dialects for SQLite: they have one connection, and return its `last_insert_rowid()`. */
  #resultOf<R>({ rows, columns, changes, lastInsertRowid }: Result): QueryResult<R> {
    if (lastInsertRowid) this.#lastInsert.rowid = BigInt(lastInsertRowid)
    if (columns.length > 0) return { rows: rows as R[] }
    return { rows: [], numAffectedRows: BigInt(changes), insertId: this.#lastInsert.rowid }
  }
}
