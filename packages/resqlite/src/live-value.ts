import type { Part, SharedStream } from './shared-stream'

/**
 * The value of a shared stream for one of its users: arrays of its own, made once per emission. What users do to their
 * arrays must not reach other users, nor the result that the next patch is applied to.
 */
export class LiveValue<V> {
  #version = 0
  #value: V | undefined
  #arrays: { version: number; rows: unknown[] }[] = []

  constructor(readonly names: readonly string[] | undefined) {}

  /** The value of the last emission; a result that it left alone keeps its array. */
  of(stream: SharedStream): V {
    if (this.#version !== stream.version) {
      const arrays = stream.parts.map((part, i) => this.#array(part, i))
      this.#value = this.#compose(arrays) as V
      this.#version = stream.version
    }
    return this.#value as V
  }

  #array({ rows, version }: Part, i: number): unknown[] {
    const known = this.#arrays[i]
    if (known !== undefined && known.version === version) return known.rows
    const copy = rows.slice()
    this.#arrays[i] = { version, rows: copy }
    return copy
  }

  #compose(arrays: unknown[][]): unknown {
    if (this.names === undefined) return arrays[0]
    return Object.fromEntries(this.names.map((name, i) => [name, arrays[i]]))
  }
}
