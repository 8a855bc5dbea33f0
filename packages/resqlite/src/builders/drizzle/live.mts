import type { AnyRelations } from 'drizzle-orm/relations'
import type { RunnableQuery } from 'drizzle-orm/runnable-query'
import type { SQLiteAsyncCountBuilder } from 'drizzle-orm/sqlite-core/async'
import { checkObserver } from '../../core/checks.js'
import type {
  CodedError,
  Emission,
  LiveIterator,
  LiveObservable,
  LiveObserver,
  LiveQuery,
  StreamOptions,
  StreamStats,
  Unsubscribe,
} from '../../core/live-types.js'
import { observable } from '../../core/observable.js'
import type { RowArray } from '../../core/types.js'
import { ObservableQuery } from '../../live/observable.js'
import type { ResqliteDatabase } from './database.mjs'
import { Prepared } from './prepared.mjs'
import { RowMapper } from './row-mapper.mjs'

/** A live query whose values are what Drizzle makes of the rows: a {@link LiveQuery} without patches. */
export type DrizzleLiveQuery<V> = Omit<LiveQuery<V>, 'changes' | 'changesBytes'>

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
  const { sql, params, mapper } = new Prepared(query, 'live')
  const rows = db.$client.stream<RowArray>(sql, params, { ...options, arrays: true })
  return new MappedLiveQuery(rows, new RowMapper(mapper))
}

class MappedLiveQuery<V> implements DrizzleLiveQuery<V> {
  readonly #rows: LiveQuery<RowArray[]>
  readonly #mapper: RowMapper<V>

  constructor(rows: LiveQuery<RowArray[]>, mapper: RowMapper<V>) {
    this.#rows = rows
    this.#mapper = mapper
  }

  subscribe(
    first: LiveObserver<V> | ((value: V, info: Emission) => void),
    error?: (error: CodedError) => void,
  ): Unsubscribe {
    const observer = checkObserver<V>(first, error)
    return this.#rows.subscribe({
      next: (rows, info) => observer.next?.(this.#mapper.valueOf(rows), info),
      error: observer.error && ((error) => observer.error?.(error)),
      complete: observer.complete && (() => observer.complete?.()),
    })
  }

  [observable](): LiveObservable<V> {
    return new ObservableQuery(this)
  }

  [Symbol.asyncIterator](): LiveIterator<V> {
    return this.values()
  }

  values(): LiveIterator<V> {
    return this.#rows.values().map((rows) => this.#mapper.valueOf(rows))
  }

  get current(): V | undefined {
    const rows = this.#rows.current
    return rows === undefined ? undefined : this.#mapper.valueOf(rows)
  }

  get stats(): StreamStats {
    return this.#rows.stats
  }
}
