import type { EncodedPatch, LeanPatch } from '../core/live-types'
import type { IteratorValues } from './iterator-subscriber'
import { KeyedQuery, type Position } from './keyed-query'
import type { Step } from './keyed-result'
import type { RowPatch } from './patches'
import type { Columns } from './row-keys'
import type { SharedQuery } from './shared-query'

/** The values of an iterator over changes: what changed since the last one, in the form that `make` gives it. */
export class Changes<T> implements IteratorValues<T> {
  readonly #key: Columns
  readonly #make: (step: Step, position: Position, query: KeyedQuery) => T
  readonly #position: Position = { version: 0, rows: [] }
  #query: KeyedQuery | undefined

  constructor(key: Columns, make: (step: Step, position: Position, query: KeyedQuery) => T) {
    this.#key = key
    this.#make = make
  }

  emitted(shared: SharedQuery, patches: readonly RowPatch[] | undefined): void {
    if (patches !== undefined) this.#joined(shared).emitted(patches)
  }

  take(shared: SharedQuery): T | undefined {
    const query = this.#joined(shared)
    const step = query.advance(this.#position)
    return step === undefined ? undefined : this.#make(step, this.#position, query)
  }

  left(): void {
    this.#query?.leave()
    this.#query = undefined
    this.#position.rows = []
  }

  #joined(shared: SharedQuery): KeyedQuery {
    this.#query ??= KeyedQuery.join(shared, this.#key)
    return this.#query
  }
}

/** Returns a patch whose lists belong to the caller. */
export function leanPatch(step: Step): LeanPatch {
  const { since, version, commit, added, removed, updated, moved } = step
  return {
    initial: since === 0,
    added: added.map((entry) => ({ ...entry })),
    removed: removed.map((entry) => ({ ...entry })),
    updated: updated.map((entry) => ({ ...entry })),
    moved: moved.map((entry) => ({ ...entry })),
    commit,
    since,
    version,
  }
}

export function encodedPatch(step: Step, query: KeyedQuery): EncodedPatch {
  const { since, version, commit } = step
  return { bytes: query.encoded(step), initial: since === 0, commit, since, version }
}
