import type { RowArray } from '../../core/types.js'

/**
 * Applies Drizzle's mapper to the results of a live query. Rows that resqlite has given before are not mapped again, so a row
 * that did not change stays the same object.
 */
export class RowMapper<V> {
  readonly #mapper: (rows: RowArray[]) => unknown
  /** Whether a value is an array with one element for each row, and not one object or number. */
  readonly #isList: boolean
  readonly #known = new WeakMap<RowArray, unknown>()
  #rows: readonly RowArray[] | undefined
  #value: V | undefined

  constructor(mapper: ((rows: RowArray[]) => unknown) | undefined) {
    this.#mapper = mapper ?? ((rows) => rows)
    this.#isList = Array.isArray(this.#mapper([]))
  }

  /** The same rows give the same value. */
  valueOf(rows: readonly RowArray[]): V {
    if (rows !== this.#rows) {
      this.#value = (this.#isList ? this.list(rows) : this.#single(rows)) as V
      this.#rows = rows
    }
    return this.#value as V
  }

  /** What Drizzle makes of each of these rows in a list. */
  list(rows: readonly RowArray[]): unknown[] {
    const fresh = rows.filter((row) => !this.#known.has(row))
    const mapped = this.#mapper(fresh) as unknown[]
    fresh.forEach((row, i) => {
      this.#known.set(row, mapped[i])
    })
    return rows.map((row) => this.#known.get(row))
  }

  /** What Drizzle makes of a row in a list. */
  row(row: RowArray): unknown {
    return this.list([row])[0]
  }

  #single(rows: readonly RowArray[]): unknown {
    const [row] = rows
    if (row === undefined) return this.#mapper([])
    if (!this.#known.has(row)) this.#known.set(row, this.#mapper([row]))
    return this.#known.get(row)
  }
}
