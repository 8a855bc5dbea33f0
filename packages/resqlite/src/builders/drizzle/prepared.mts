import { fillPlaceholders, type Query } from 'drizzle-orm/sql'
import { SQLiteAsyncCountBuilder } from 'drizzle-orm/sqlite-core/async'
import { typeError } from '../../core/errors.js'
import type { QueryResult } from '../../core/query-types.js'
import type { RowArray, SqlValue } from '../../core/types.js'

type Mapper = (rows: RowArray[]) => unknown

/** What Drizzle's prepared queries have. Its declarations leave out a part. */
interface DrizzlePrepared {
  readonly mode: 'arrays' | 'objects' | 'raw'
  readonly executeMethod: 'run' | 'all' | 'get' | 'values'
  readonly mapper: Mapper | undefined
  readonly queryMetadata?: { readonly type: string; readonly tables: () => string[] } | undefined
  getQuery(): Query
}

/** A query of Drizzle, ready to be run with others or to be kept up to date. */
export class Prepared {
  readonly sql: string
  readonly params: readonly SqlValue[]
  readonly #prepared: DrizzlePrepared

  /** `operation`: for errors. */
  constructor(query: unknown, operation: string) {
    const prepared = preparedOf(query)
    if (prepared === undefined) throw typeError(`${operation}: not a query of Drizzle`, 'RESQLITE_STATEMENT')
    const { sql, params } = prepared.getQuery()
    this.sql = sql
    this.params = fillPlaceholders(params, {}) as SqlValue[]
    this.#prepared = prepared
  }

  /** Makes of all rows what the query returns. Undefined if they are returned as they are. */
  get mapper(): Mapper | undefined {
    return this.#prepared.mapper
  }

  /** The tables that it writes to, if Drizzle knows them. */
  get written(): string[] {
    const { queryMetadata } = this.#prepared
    return queryMetadata === undefined || queryMetadata.type === 'select' ? [] : queryMetadata.tables()
  }

  /** What the query returns, from a result with rows as arrays. */
  valueOf(result: QueryResult<RowArray>): unknown {
    const { mode, executeMethod, mapper } = this.#prepared
    const rows: unknown[] = mode === 'arrays' ? result.rows : objects(result)
    if (executeMethod === 'run') return { ...result, rows }
    if (executeMethod === 'get') return rows[0]
    return mapper === undefined ? rows : mapper(rows as RowArray[])
  }
}

function preparedOf(query: unknown): DrizzlePrepared | undefined {
  if (query instanceof SQLiteAsyncCountBuilder) return preparedCount(query)
  return (query as { _prepare?(): DrizzlePrepared })?._prepare?.()
}

function preparedCount(count: SQLiteAsyncCountBuilder): DrizzlePrepared {
  return {
    mode: 'arrays',
    executeMethod: 'all',
    mapper: (rows) => Number(rows[0]?.[0] ?? 0),
    // Drizzle declares it as protected.
    getQuery: () => (count as unknown as { build(): Query }).build(),
  }
}

function objects({ rows, columns }: QueryResult<RowArray>): object[] {
  return rows.map((row) => Object.fromEntries(columns.map(({ name }, i) => [name, row[i]])))
}
