import type { AnyRelations } from 'drizzle-orm/relations'
import type { RunnableQuery } from 'drizzle-orm/runnable-query'
import type { SQLiteAsyncCountBuilder } from 'drizzle-orm/sqlite-core'
import type { StreamOptions } from '../../core/live-types.js'
import type { RowArray } from '../../core/types.js'
import type { ResqliteDatabase } from './database.mjs'
import { type DrizzleLiveQuery, drizzleLiveQuery } from './live-query.mjs'
import { Prepared } from './prepared.mjs'

/**
 * Returns a live query with the result of a query of Drizzle: a select, a relational query, or a `$count`. As with
 * {@link Database.stream}, a row that did not change is the same object in the next value.
 *
 * ```ts
 * const adults = live(db, db.select().from(users).where(gte(users.age, 18)))
 * const stop = adults.subscribe((rows) => render(rows))
 * ```
 */
export function live<R extends AnyRelations>(
  db: ResqliteDatabase<R>,
  query: SQLiteAsyncCountBuilder,
  options?: Omit<StreamOptions, 'arrays'>,
): DrizzleLiveQuery<number>
export function live<R extends AnyRelations, V>(
  db: ResqliteDatabase<R>,
  query: RunnableQuery<V, 'sqlite'>,
  options?: Omit<StreamOptions, 'arrays'>,
): DrizzleLiveQuery<V>
export function live<R extends AnyRelations>(
  db: ResqliteDatabase<R>,
  query: unknown,
  options?: Omit<StreamOptions, 'arrays'>,
): DrizzleLiveQuery<unknown> {
  const prepared = new Prepared(query, 'live')
  const { sql, params, arrays } = prepared
  const rows = db.$client.stream<RowArray>(sql, params, { ...options, arrays })
  return drizzleLiveQuery(rows, prepared)
}
