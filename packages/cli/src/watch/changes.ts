import type { RowArray } from 'resqlite'
import { jsonText } from '../core/values.js'
import type { Look } from '../terminal/style.js'

/** The differences between a result and the result before. */
export interface Changes {
  added: number
  removed: number
  updated: number
  /** Returns the look of a cell. */
  look(row: RowArray, column: number): Look
}

/**
 * Compares two results. A row that did not change is the same object in both. Other rows belong together if they have the same key
 * or, without a key, the same place.
 */
export function changesBetween(
  before: readonly RowArray[],
  after: readonly RowArray[],
  key: readonly number[] | undefined,
): Changes {
  const kept = new Set(after)
  const old = new Map<string | number, RowArray>()
  before.forEach((row, place) => {
    if (!kept.has(row)) old.set(identity(row, place, key), row)
  })
  const removed = old.size
  const known = new Set(before)
  const previous = new Map<RowArray, RowArray | undefined>()
  after.forEach((row, place) => {
    if (!known.has(row)) previous.set(row, old.get(identity(row, place, key)))
  })
  const updated = [...previous.values()].filter((row) => row !== undefined).length
  return {
    added: previous.size - updated,
    removed: removed - updated,
    updated,
    look(row, column) {
      if (!previous.has(row)) return 'plain'
      const values = previous.get(row)
      if (values === undefined) return 'new'
      return jsonText(values[column] ?? null) === jsonText(row[column] ?? null) ? 'plain' : 'changed'
    },
  }
}

function identity(row: RowArray, place: number, key: readonly number[] | undefined): string | number {
  return key === undefined ? place : key.map((column) => jsonText(row[column] ?? null)).join()
}
