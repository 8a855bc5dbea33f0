import type { EncodedPatch, LeanPatch, RowsOfPatches } from '../core/live-types'
import type { IteratorValues } from './iterator-subscriber'
import { KeyedQuery, type Position } from './keyed-query'
import type { Step } from './keyed-result'
import type { RowPatch } from './patches'
import type { Columns } from './row-keys'
import type { SharedQuery } from './shared-query'

/** The values of an iterator over patches: what changed since the last one, in the form that `make` gives it. */
export class Patches<T> implements IteratorValues<T> {
  readonly #key: Columns
  readonly #make: (step: Step, query: KeyedQuery) => T
  readonly #position: Position
  #query: KeyedQuery | undefined

  /** `own`: an array that is changed in place, if the values have one. */
  constructor(key: Columns, make: (step: Step, query: KeyedQuery) => T, own?: unknown[]) {
    this.#key = key
    this.#make = make
    this.#position = { version: 0, missed: undefined, own }
  }

  emitted(shared: SharedQuery, patches: readonly RowPatch[] | undefined): void {
    if (patches !== undefined) this.#joined(shared).emitted(patches)
  }

  take(shared: SharedQuery): T | undefined {
    const query = this.#joined(shared)
    const step = query.advance(this.#position)
    return step === undefined ? undefined : this.#make(step, query)
  }

  left(): void {
    this.#query?.leave(this.#position)
    this.#query = undefined
    this.#position.missed = undefined
  }

  #joined(shared: SharedQuery): KeyedQuery {
    this.#query ??= KeyedQuery.join(shared, this.#key, this.#position)
    return this.#query
  }
}

/** Returns the values of an iterator by its option `rows`. */
export function patchesOf(key: Columns, rows: RowsOfPatches): Patches<LeanPatch> {
  if (rows === false) return new Patches(key, leanPatch)
  const own: unknown[] | undefined = rows === 'inPlace' ? [] : undefined
  const make = (step: Step, query: KeyedQuery) => ({ ...leanPatch(step), rows: own ?? query.rows() })
  return new Patches(key, make, own)
}

/** Returns a patch whose lists belong to the caller. */
function leanPatch(step: Step): LeanPatch {
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
