import { typeError } from '../../core/errors.js'
import type { PatchesOptions, RowOf } from '../../core/live-types.js'
import type { RowArray } from '../../core/types.js'

/** What a live query has to know of a query of Drizzle. */
export interface Selection {
  /** Makes of all rows what the query returns. Undefined if they are returned as they are. */
  readonly mapper: ((rows: RowArray[]) => unknown) | undefined
  /**
   * Where Drizzle puts each column in its rows, as `name` or `group.name`. Undefined for a column that holds the rows of a
   * relation, and instead of the list if the query does not return a list of rows.
   */
  readonly paths: (string | undefined)[] | undefined
}

/** The properties of a row, and as `group.property` those of the objects in it, which joins and nested selections give. */
type PathOf<T> = { [K in keyof T & string]: K | NestedIn<K, NonNullable<T[K]>> }[keyof T & string]
type NestedIn<K extends string, T> = T extends Plain
  ? never
  : T extends object
    ? `${K}.${keyof T & string}`
    : never
type Plain = Date | Uint8Array | readonly unknown[]

/** What a key can name: properties of the rows, or indexes if the rows are arrays. Nothing if the result is not a list. */
export type DrizzleKeyColumn<V> = [RowOf<V>] extends [never]
  ? never
  : RowOf<V> extends readonly unknown[]
    ? number
    : PathOf<RowOf<V>>

/** Options of {@link DrizzleLiveQuery.patches}. */
export interface DrizzlePatchesOptions<V> extends Omit<PatchesOptions<unknown>, 'key' | 'rows'> {
  /**
   * The property, or the properties together, whose values are different in each row, like a primary key. Columns that a join
   * or a selection nests are named by their path, as `'users.id'`.
   */
  key: DrizzleKeyColumn<V> | readonly DrizzleKeyColumn<V>[]
  /** Whether patches contain the whole new result, an array that is made for each patch. Default: `true`. */
  rows?: boolean | undefined
}

/** The key in terms of the rows that SQLite returns: indexes of columns, or for raw SQL what was given. */
export function keyColumns(selection: Selection, options: unknown): number | number[] {
  const { key, rows } = (options ?? {}) as { key?: unknown; rows?: unknown }
  if (rows === 'inPlace') throw refused("option rows must be a boolean: 'inPlace' is not for rows of Drizzle")
  const { paths, mapper } = selection
  if (mapper === undefined) return key as number
  if (key === undefined) throw refused("option key is missing; it must name a property, as in { key: 'id' }")
  if (paths === undefined) {
    throw refused('only selects, raw SQL and relational queries have patches, if they return many rows')
  }
  return (Array.isArray(key) ? key : [key]).map((path) => {
    const index = paths.indexOf(path)
    if (index !== -1) return index
    const names = paths.filter((path) => path !== undefined).map((path) => JSON.stringify(path))
    const given = typeof path === 'string' ? JSON.stringify(path) : `a ${typeof path}`
    throw refused(`option key must be one of ${names.join(', ')}, the columns of the rows; not ${given}`)
  })
}

function refused(message: string): TypeError {
  return typeError(`patches: ${message}`, 'RESQLITE_OPTION')
}
