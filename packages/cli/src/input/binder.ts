import type { SqlValue } from 'resqlite'
import { type Column, Real, type Value } from './records.js'

/** Makes parameters of {@link insertion} from records. */
export class Binder {
  readonly #columns: readonly Column[]
  /** True if each record can be used as a list of parameters without a change. */
  readonly #isPlain: boolean

  constructor(columns: readonly Column[], hasReals: boolean) {
    this.#columns = columns
    this.#isPlain = !hasReals && columns.every(({ isUntyped, isGenerated }) => !isUntyped && !isGenerated)
  }

  bound(record: Value[]): SqlValue[] {
    return this.#isPlain ? (record as SqlValue[]) : this.#bound(record)
  }

  #bound(record: readonly Value[]): SqlValue[] {
    const params: SqlValue[] = []
    this.#columns.forEach(({ isUntyped, isGenerated }, index) => {
      if (isGenerated) return
      const value = record[index] ?? null
      params.push(plain(value))
      if (isUntyped) params.push(value instanceof Real ? 1 : 0)
    })
    return params
  }
}

function plain(value: Value): SqlValue {
  return value instanceof Real ? value.value : value
}
