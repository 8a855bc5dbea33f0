import type { Part, SharedStream } from './shared-query'

/**
 * The value of a shared stream for one of its users: arrays of its own, made once per emission. What users do to their
 * arrays must not reach other users, nor the result that the next patch is applied to.
 */
export class LiveValue<V> {
  /** The emission of which it is. */
  #version = 0
  #value: V | undefined
  /** Of several queries, the array of each. */
  #arrays: unknown[][] | undefined

  constructor(readonly names: readonly string[] | undefined) {}

  /** The value of the last emission; a result that it left alone keeps its array. */
  of(stream: SharedStream): V {
    if (this.#version !== stream.version) {
      this.#value = (this.names === undefined ? this.#only(stream) : this.#named(this.names, stream)) as V
      this.#version = stream.version
    }
    return this.#value as V
  }

  #only(stream: SharedStream): unknown {
    const part = stream.part(0)
    return this.#isNew(part) ? part.rows.slice() : this.#value
  }

  #named(names: readonly string[], stream: SharedStream): unknown {
    const before = this.#arrays ?? []
    const now = names.map((_, i) => {
      const part = stream.part(i)
      return this.#isNew(part) ? part.rows.slice() : (before[i] as unknown[])
    })
    this.#arrays = now
    return Object.fromEntries(names.map((name, i) => [name, now[i]]))
  }

  #isNew({ version }: Part): boolean {
    return this.#value === undefined || version > this.#version
  }
}
