import { typeError } from '../../core/errors.js'
import type { RowArray } from '../../core/types.js'
import type { Mapping } from '../../live/mapping.js'
import { type Mapper, type Selection, textOf } from './selection.mjs'

/**
 * Applies Drizzle's mapper to the results of a live query. Rows that resqlite has given before are not mapped again, so a row
 * that did not change stays the same object.
 */
export class RowMapper<V> implements Mapping<V> {
  readonly #selection: Selection
  readonly #mapper: Mapper
  /** True if a value is an array with one element for each row, and not one object or number. */
  readonly #isList: boolean
  readonly #known = new WeakMap<RowArray, unknown>()
  #rows: readonly RowArray[] | undefined
  #value: V | undefined
  #id: string | undefined

  constructor(selection: Selection, mapper: Mapper) {
    this.#selection = selection
    this.#mapper = mapper
    this.#isList = Array.isArray(mapper([]))
  }

  get id(): string {
    this.#id ??= `${this.#isList} ${textOf(this.#selection.parts)}`
    return this.#id
  }

  /** The same rows give the same value. */
  valueOf(rows: readonly RowArray[]): V {
    if (rows !== this.#rows) {
      this.#value = (this.#isList ? this.list(rows) : this.#single(rows)) as V
      this.#rows = rows
    }
    return this.#value as V
  }

  list(rows: readonly RowArray[]): unknown[] {
    const fresh = rows.filter((row) => !this.#known.has(row))
    const mapped = this.#mapper(fresh) as unknown[]
    fresh.forEach((row, i) => {
      this.#known.set(row, mapped[i])
    })
    return rows.map((row) => this.#known.get(row))
  }

  keyColumns(method: string, key: unknown): number[] {
    const { paths } = this.#selection
    const refused = (message: string) => typeError(`${method}: ${message}`, 'RESQLITE_OPTION')
    if (key === undefined)
      throw refused("option key is missing; it must name a property, as in { key: 'id' }")
    if (paths === undefined) {
      throw refused('only selects, raw SQL and relational queries have keys, if they return many rows')
    }
    return [key].flat().map((path) => {
      const index = paths.indexOf(path as string)
      if (index !== -1) return index
      const names = paths.filter((path) => path !== undefined).map((path) => JSON.stringify(path))
      const given = typeof path === 'string' ? JSON.stringify(path) : `a ${typeof path}`
      throw refused(`option key must be one of ${names.join(', ')}, the columns of the rows; not ${given}`)
    })
  }

  #single(rows: readonly RowArray[]): unknown {
    const [row] = rows
    if (row === undefined) return this.#mapper([])
    if (!this.#known.has(row)) this.#known.set(row, this.#mapper([row]))
    return this.#known.get(row)
  }
}
