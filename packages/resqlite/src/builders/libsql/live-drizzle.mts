import { typeError } from '../../core/errors.js'
import type { StreamOptions } from '../../core/live-types.js'
import type { RowArray, SqlValue } from '../../core/types.js'
import { type DrizzleLiveQuery, drizzleLiveQuery } from '../drizzle/live-query.mjs'
import type { Selection } from '../drizzle/selection.mjs'
import type { Client } from './types.js'

/** A database of Drizzle, of which its declarations leave out a part. */
interface DrizzleDatabase {
  readonly $client: Client
}

interface Query {
  readonly sql: string
  readonly params: unknown[]
}

/** A prepared query of Drizzle 0.45. A query by raw SQL has less. */
interface Prepared {
  readonly executeMethod?: 'run' | 'all' | 'get' | 'values'
  readonly fields?: readonly { readonly path: string[] }[]
  readonly customResultMapper?: unknown
  getQuery(): Query
  mapAllResult?(rows: RowArray[]): unknown
  mapGetResult?(rows: RowArray[]): unknown
}

/** A query of Drizzle 0.45. */
interface DrizzleQuery {
  /** A relational query. */
  readonly mode?: 'many' | 'first'
  _prepare?(): Prepared
  /** Of a relational query. */
  _toSQL?(): {
    readonly query: { readonly selection: { readonly tsKey: string; readonly isJson: boolean }[] }
  }
  /** Of a `$count`: the whole query. */
  readonly sql?: unknown
}

/**
 * Returns a live query with the result of a query of Drizzle: a select, a relational query, raw SQL or a `$count`. The client
 * must have its database open: make it by `createClient({ database })`, or await a query before.
 *
 * ```ts
 * const adults = live(db, db.select().from(users).where(gte(users.age, 18)))
 * const stop = adults.subscribe((rows) => render(rows))
 * ```
 */
export function live<V>(
  db: DrizzleDatabase,
  query: PromiseLike<V>,
  options?: Omit<StreamOptions, 'arrays'>,
): DrizzleLiveQuery<V> {
  const { database } = db.$client
  if (database === undefined) {
    throw typeError(
      'live: the client has not opened its database yet; make it by createClient({ database })',
      'RESQLITE_OPTION',
    )
  }
  const { sql, params, arrays, ...selection } = selectionOf(db, query as DrizzleQuery)
  const rows = database.stream<RowArray>(sql, params as SqlValue[], { ...options, arrays })
  return drizzleLiveQuery(rows, selection)
}

function selectionOf(db: DrizzleDatabase, query: DrizzleQuery): Query & Selection & { arrays: boolean } {
  const prepared = query?._prepare?.()
  if (prepared === undefined) return countOf(db, query)
  const { sql, params } = prepared.getQuery()
  const { fields, customResultMapper, executeMethod } = prepared
  const relational = query.mode === undefined ? undefined : query._toSQL?.().query.selection
  const arrays = fields !== undefined || customResultMapper !== undefined
  const map = (rows: RowArray[]) =>
    executeMethod === 'get' ? prepared.mapGetResult?.(rows) : prepared.mapAllResult?.(rows)
  const paths = fields?.map(({ path }) => path.join('.'))
  const properties = relational?.map(({ tsKey, isJson }) => (isJson ? undefined : tsKey))
  return {
    sql,
    params,
    arrays,
    mapper: arrays ? map : undefined,
    paths: query.mode === 'first' ? undefined : (paths ?? properties),
    parts: fields ?? relational,
  }
}

/** A `$count` is no prepared query, but SQL. */
function countOf(db: DrizzleDatabase, { sql: count }: DrizzleQuery): Query & Selection & { arrays: boolean } {
  if (count === undefined) throw typeError('live: not a query of Drizzle', 'RESQLITE_STATEMENT')
  const { dialect } = db as unknown as { dialect: { sqlToQuery(sql: unknown): Query } }
  const { sql, params } = dialect.sqlToQuery(count)
  return { sql, params, arrays: true, mapper: (rows) => Number(rows[0]?.[0] ?? 0), ...COUNT }
}

const COUNT = { paths: undefined, parts: 'count' }
