import type { EncodedPatch, LeanPatch, RowsOfPatches } from '../core/live-types'
import type { IteratorValues } from './iterator-subscriber'
import type { Step } from './keyed-result'
import { encodePatch } from './patch-json'
import { patchInPlace } from './patches'
import type { Columns } from './row-keys'
import type { SharedQuery } from './shared-query'
import { asItIs } from './shared-result'

/** The values of an iterator over patches, by its option `rows`. */
export function patchesOf(shared: SharedQuery, key: Columns, rows: RowsOfPatches): IteratorValues<LeanPatch> {
  const result = shared.keyed(key)
  const position = result.join(rows === 'inPlace' ? [] : undefined)
  const { own } = position
  return {
    take() {
      const step = result.advance(position, asItIs)
      if (step === undefined || rows === false) return step && leanPatch(step)
      if (own !== undefined) patchInPlace(own, step.patch)
      return { ...leanPatch(step), rows: own ?? result.rows() }
    },
    left: () => result.leave(position),
  }
}

/** The values of an iterator over patches as JSON. */
export function encodedPatchesOf(shared: SharedQuery, key: Columns): IteratorValues<EncodedPatch> {
  const result = shared.keyed(key)
  const position = result.join()
  return {
    take() {
      const since = position.version
      const bytes = result.advance(position, encodePatch)
      const { version, commit } = position
      return bytes && { bytes, initial: since === 0, commit, since, version }
    },
    left: () => result.leave(position),
  }
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
