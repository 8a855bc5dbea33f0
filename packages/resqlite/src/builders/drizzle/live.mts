import type { AnyRelations } from 'drizzle-orm/relations'
import type { RunnableQuery } from 'drizzle-orm/runnable-query'
import type { SQLiteAsyncCountBuilder } from 'drizzle-orm/sqlite-core'
import { checkObserver } from '../../core/checks.js'
import type {
  CodedError,
  Emission,
  LeanPatch,
  LiveIterator,
  LiveObservable,
  LiveObserver,
  LiveQuery,
  Patch,
  RowOf,
  StreamOptions,
  StreamStats,
  Unsubscribe,
} from '../../core/live-types.js'
import { observable } from '../../core/observable.js'
import type { RowArray } from '../../core/types.js'
import { ObservableQuery } from '../../live/observable.js'
import type { ResqliteDatabase } from './database.mjs'
import { type DrizzlePatchesOptions, keyColumns } from './live-key.mjs'
import { mappedPatch } from './patch-mapper.mjs'
import { Prepared } from './prepared.mjs'
import { RowMapper } from './row-mapper.mjs'

/** A live query whose values are what Drizzle makes of the rows: a {@link LiveQuery} without `patchesBytes`. */
export interface DrizzleLiveQuery<V> extends Omit<LiveQuery<V>, 'patches' | 'patchesBytes'> {
  /**
   * Iterates over what changed from one result to the next, as {@link LiveQuery.patches} does, with rows as Drizzle makes
   * them. A row that did not change is the same object in all patches. For selects and relational queries of many rows.
   *
   * ```ts
   * for await (const patch of live(db, db.query.users.findMany({ with: { pets: true } })).patches({ key: 'id' })) {
   *   for (const { row, index } of patch.updated) list.replace(index, row)
   * }
   * ```
   */
  patches(options: DrizzlePatchesOptions<V> & { rows: false }): LiveIterator<LeanPatch<RowOf<V>>>
  patches(options: DrizzlePatchesOptions<V> & { rows?: true | undefined }): LiveIterator<Patch<RowOf<V>>>
  patches(options: DrizzlePatchesOptions<V>): LiveIterator<Patch<RowOf<V>> | LeanPatch<RowOf<V>>>
}

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
  return new MappedLiveQuery(rows, prepared)
}

class MappedLiveQuery<V> implements DrizzleLiveQuery<V> {
  readonly #rows: LiveQuery<RowArray[]>
  readonly #prepared: Prepared
  readonly #mapper: RowMapper<V>

  constructor(rows: LiveQuery<RowArray[]>, prepared: Prepared) {
    this.#rows = rows
    this.#prepared = prepared
    this.#mapper = new RowMapper(prepared.mapper)
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

  patches(options: DrizzlePatchesOptions<V> & { rows: false }): LiveIterator<LeanPatch<RowOf<V>>>
  patches(options: DrizzlePatchesOptions<V>): LiveIterator<Patch<RowOf<V>>>
  patches(options: DrizzlePatchesOptions<V>): LiveIterator<unknown> {
    const key = keyColumns(this.#prepared, options)
    return this.#rows.patches({ ...options, key }).map((patch) => mappedPatch(patch, this.#mapper))
  }

  get current(): V | undefined {
    const rows = this.#rows.current
    return rows === undefined ? undefined : this.#mapper.valueOf(rows)
  }

  get stats(): StreamStats {
    return this.#rows.stats
  }
}
