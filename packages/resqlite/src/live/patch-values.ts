import type { EncodedPatch, LeanPatch, RowsOfPatches } from '../core/live-types'
import type { RowArray } from '../core/types'
import type { IteratorValues } from './iterator-subscriber'
import type { Step } from './keyed-result'
import { type Mapping, ownLists } from './mapping'
import { encodePatch } from './patch-json'
import { patchInPlace } from './patches'
import type { Columns } from './row-keys'
import type { SharedQuery } from './shared-query'
import { asItIs } from './shared-result'

/** Returns the values of an iterator over patches, by its option `rows`. `mapping` makes the rows. */
export function patchesOf(
  shared: SharedQuery,
  key: Columns,
  rows: RowsOfPatches,
  mapping: Mapping | undefined,
): IteratorValues<LeanPatch> {
  const result = shared.keyed(key)
  const position = result.join(rows === 'inPlace' ? [] : undefined)
  const { own } = position
  const made = (rows: unknown[]) => (mapping === undefined ? rows : mapping.list(rows as RowArray[]))
  /** The rows that a mapping makes of `own`. */
  const mapped: unknown[] = []
  return {
    take() {
      const step = result.advance(position, asItIs)
      if (step === undefined) return undefined
      const patch = leanPatch(step, mapping)
      if (rows === false) return patch
      if (own === undefined) return { ...patch, rows: made(result.rows()) }
      patchInPlace(own, step.patch)
      if (mapping === undefined) return { ...patch, rows: own }
      patchInPlace(mapped, { ...step.patch, newRows: made(step.patch.newRows) })
      return { ...patch, rows: mapped }
    },
    left: () => result.leave(position),
  }
}

/** Returns the values of an iterator over patches as JSON. */
export function encodedPatchesOf(
  shared: SharedQuery,
  key: Columns,
  mapping: Mapping | undefined,
): IteratorValues<EncodedPatch> {
  const result = shared.keyed(key, mapping)
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
function leanPatch(step: Step, mapping: Mapping | undefined): LeanPatch {
  const { since, version, commit } = step
  return { initial: since === 0, ...ownLists(step, mapping), commit, since, version }
}
