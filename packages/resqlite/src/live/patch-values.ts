import type { EncodedPatch, LeanPatch, RowsOfPatches } from '../core/live-types'
import type { IteratorValues } from './iterator-subscriber'
import type { Step } from './keyed-result'
import type { Columns } from './row-keys'
import type { SharedQuery } from './shared-query'
import type { SharedResult } from './shared-result'

/**
 * Returns the function that opens the values of an iterator: what changed since the last one, in the form that `make` gives
 * it. `own`: an array that is changed in place, if the values have one.
 */
function values<T>(key: Columns, make: (step: Step, result: SharedResult) => T, own?: unknown[]) {
  return (shared: SharedQuery): IteratorValues<T> => {
    const result = shared.keyed(key)
    const position = result.join(own)
    return {
      take() {
        const step = result.advance(position)
        return step && make(step, result)
      },
      left: () => result.leave(position),
    }
  }
}

/** Returns what opens the values of an iterator over patches by its option `rows`. */
export function patchesOf(key: Columns, rows: RowsOfPatches) {
  if (rows === false) return values<LeanPatch>(key, leanPatch)
  const own: unknown[] | undefined = rows === 'inPlace' ? [] : undefined
  const make = (step: Step, result: SharedResult) => ({ ...leanPatch(step), rows: own ?? result.rows() })
  return values<LeanPatch>(key, make, own)
}

/** Returns what opens the values of an iterator over patches as JSON. */
export function encodedPatches(key: Columns) {
  return values<EncodedPatch>(key, (step, result) => {
    const { since, version, commit } = step
    return { bytes: result.encoded(step), initial: since === 0, commit, since, version }
  })
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
