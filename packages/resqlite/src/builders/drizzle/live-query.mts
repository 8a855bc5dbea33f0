import type { LiveQuery, RowOf } from '../../core/live-types.js'
import type { RowArray } from '../../core/types.js'
import type { LiveQueryObject } from '../../live/live-query.js'
import { RowMapper } from './row-mapper.mjs'
import type { Selection } from './selection.mjs'

/** The properties of a row, and as `group.property` those of the objects in it, which joins and nested selections give. */
type PathOf<T> = { [K in keyof T & string]: K | NestedIn<K, NonNullable<T[K]>> }[keyof T & string]
type NestedIn<K extends string, T> = T extends Plain
  ? never
  : T extends object
    ? `${K}.${keyof T & string}`
    : never
type Plain = Date | Uint8Array | readonly unknown[]

/**
 * The names of a key: properties of the rows, or indexes if the rows are arrays. A property that a join or a selection nests has
 * its path, as `'users.id'`. A result that is not a list has none.
 */
export type DrizzleKeyColumn<V> = [RowOf<V>] extends [never]
  ? never
  : RowOf<V> extends readonly unknown[]
    ? number
    : PathOf<RowOf<V>>

/** A live query whose values are what Drizzle makes of the rows. A row that did not change is the same object in all of them. */
export type DrizzleLiveQuery<V> = LiveQuery<V, DrizzleKeyColumn<V>>

/** Returns a live query with what Drizzle makes of its rows. */
export function drizzleLiveQuery<V>(rows: LiveQuery<RowArray[]>, selection: Selection): DrizzleLiveQuery<V> {
  const { mapper } = selection
  const object = rows as LiveQueryObject<unknown>
  return (mapper === undefined ? object : object.mapped(new RowMapper(selection, mapper))) as never
}
