import { fillPlaceholders, type Query } from 'drizzle-orm/sql'
import * as core from 'drizzle-orm/sqlite-core'
import { typeError } from '../../core/errors.js'
import type { QueryResult } from '../../core/query-types.js'
import type { RowArray, SqlValue } from '../../core/types.js'
import type { Mapper, Selection } from './selection.mjs'

/** A prepared query of Drizzle, of which its declarations leave out a part. */
interface DrizzlePrepared {
  readonly mode: 'arrays' | 'objects' | 'raw'
  readonly executeMethod: 'run' | 'all' | 'get' | 'values'
  readonly mapper: Mapper | undefined
  readonly queryMetadata?: { readonly type: string; readonly tables: () => string[] } | undefined
  getQuery(): Query
}

/** The columns of a query of Drizzle, of which its declarations leave out a part. */
interface Selecting {
  /** A relational query. */
  readonly mode?: 'many' | 'first'
  _getQuery?(): { selection: { key: string; selection?: unknown }[] }
  /** A select, once it was prepared. */
  readonly config?: { readonly fieldsFlat?: { path: string[] }[] }
}

/** A query of Drizzle, ready to be run with others or to be kept up to date. */
export class Prepared implements Selection {
  readonly sql: string
  readonly params: readonly SqlValue[]
  readonly #query: unknown
  readonly #prepared: DrizzlePrepared

  /** `operation`: for errors. */
  constructor(query: unknown, operation: string) {
    const prepared = preparedOf(query)
    if (prepared === undefined) throw typeError(`${operation}: not a query of Drizzle`, 'RESQLITE_STATEMENT')
    const { sql, params } = prepared.getQuery()
    this.sql = sql
    this.params = fillPlaceholders(params, {}) as SqlValue[]
    this.#query = query
    this.#prepared = prepared
  }

  /** True if it needs rows as arrays. */
  get arrays(): boolean {
    return this.#prepared.mode === 'arrays'
  }

  get mapper(): Mapper | undefined {
    const { executeMethod, mapper } = this.#prepared
    return executeMethod === 'get' ? ([row]) => row : mapper
  }

  get paths(): (string | undefined)[] | undefined {
    const { mode, config, _getQuery } = this.#query as Selecting
    if (_getQuery === undefined) return config?.fieldsFlat?.map(({ path }) => path.join('.'))
    if (mode === 'first') return undefined
    const { selection } = _getQuery.call(this.#query)
    return selection.map(({ key, selection }) => (selection === undefined ? key : undefined))
  }

  get parts(): unknown {
    const { config, _getQuery } = this.#query as Selecting
    return _getQuery?.call(this.#query).selection ?? config?.fieldsFlat ?? this.#query
  }

  /** The tables that it writes to, if Drizzle knows them. */
  get written(): string[] {
    const { queryMetadata } = this.#prepared
    return queryMetadata === undefined || queryMetadata.type === 'select' ? [] : queryMetadata.tables()
  }

  /** Makes what the query returns of a result with rows as arrays. */
  valueOf(result: QueryResult<RowArray>): unknown {
    const { arrays, mapper } = this
    const rows: unknown[] = arrays ? result.rows : objects(result)
    if (this.#prepared.executeMethod === 'run') return { ...result, rows }
    return mapper === undefined ? rows : mapper(rows as RowArray[])
  }
}

function preparedOf(query: unknown): DrizzlePrepared | undefined {
  if (query instanceof core.SQLiteAsyncCountBuilder) return preparedCount(query)
  return (query as { _prepare?(): DrizzlePrepared })?._prepare?.()
}

function preparedCount(count: core.SQLiteAsyncCountBuilder): DrizzlePrepared {
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
