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
  StreamStats,
  Unsubscribe,
} from '../../core/live-types.js'
import { observable } from '../../core/observable.js'
import type { RowArray } from '../../core/types.js'
import { ObservableQuery } from '../../live/observable.js'
import { type DrizzlePatchesOptions, keyColumns, type Selection } from './live-key.mjs'
import { mappedPatch } from './patch-mapper.mjs'
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

/** A live query with what Drizzle makes of the rows. */
export class MappedLiveQuery<V> implements DrizzleLiveQuery<V> {
  readonly #rows: LiveQuery<RowArray[]>
  readonly #selection: Selection
  readonly #mapper: RowMapper<V>

  constructor(rows: LiveQuery<RowArray[]>, selection: Selection) {
    this.#rows = rows
    this.#selection = selection
    this.#mapper = new RowMapper(selection.mapper)
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
    const key = keyColumns(this.#selection, options)
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
