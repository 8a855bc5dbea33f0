import type { QueryRows, SharedQuery } from './shared-query'

/**
 * The value of a shared live query for one of its users. Its arrays belong to the user and are created once per emission.
 * Changes that a user makes to them must affect neither other users nor the result to which the next patch is applied.
 */
export class LiveValue<V> {
  /** The version of the emission to which the value belongs. */
  #version = 0
  #value: V | undefined
  /** With several queries: the array of each query. */
  #arrays: unknown[][] | undefined

  constructor(readonly names: readonly string[] | undefined) {}

  /** Returns the value of the last emission. A result that the emission did not change keeps its array. */
  of(shared: SharedQuery): V {
    if (this.#version !== shared.version) {
      this.#value = (this.names === undefined ? this.#only(shared) : this.#named(this.names, shared)) as V
      this.#version = shared.version
    }
    return this.#value as V
  }

  #only(shared: SharedQuery): unknown {
    const result = shared.result(0)
    return this.#isNew(result) ? result.rows.slice() : this.#value
  }

  #named(names: readonly string[], shared: SharedQuery): unknown {
    const before = this.#arrays ?? []
    const now = names.map((_, i) => {
      const result = shared.result(i)
      return this.#isNew(result) ? result.rows.slice() : (before[i] as unknown[])
    })
    this.#arrays = now
    return Object.fromEntries(names.map((name, i) => [name, now[i]]))
  }

  #isNew({ version }: QueryRows): boolean {
    return this.#value === undefined || version > this.#version
  }
}
