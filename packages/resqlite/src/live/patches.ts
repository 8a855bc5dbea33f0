import { JOINED_SEGMENTS, SPLICED_PLACES, SPLICED_ROWS } from '../core/limits'
import { NEW_ROWS } from '../wire/protocol'

/** The patch that makes the next result of a query from the result before. */
export interface RowPatch {
  /** The index of the query, if the live query has several. */
  readonly query: number
  readonly columns: readonly string[]
  /**
   * The segments of the new result, in order, as pairs: the position of its rows in the result before (or NEW_ROWS), and
   * their number.
   */
  readonly segments: readonly number[]
  /** The rows of all segments of new rows, in order. */
  readonly newRows: unknown[]
}

/**
 * Returns the next result. With `inPlace`, the array of the result before must not be used any more, because it may be
 * modified and returned.
 */
export function applyPatch(rows: unknown[], patch: RowPatch, inPlace = true): unknown[] {
  const { segments, newRows } = patch
  if (keepsPositions(segments)) return overwrite(inPlace ? rows : rows.slice(), segments, newRows)
  const places = changedPlaces(rows.length, patch)
  if (places !== undefined) return splice(inPlace ? rows : rows.slice(), places)
  return segments.length <= 2 * JOINED_SEGMENTS
    ? concatenate(rows, segments, newRows)
    : collect(rows, segments, newRows)
}

/** Changes an array into the next result. It stays the same object. */
export function patchInPlace(rows: unknown[], patch: RowPatch): void {
  const next = applyPatch(rows, patch)
  if (next === rows) return
  rows.length = next.length
  for (let i = 0; i < next.length; i++) rows[i] = next[i]
}

/** Returns whether every kept row keeps its position. */
function keepsPositions(segments: readonly number[]): boolean {
  let index = 0
  for (let s = 0; s < segments.length; s += 2) {
    const start = segments[s] as number
    if (start !== NEW_ROWS && start !== index) return false
    index += segments[s + 1] as number
  }
  return true
}

function overwrite(rows: unknown[], segments: readonly number[], newRows: unknown[]): unknown[] {
  // This is a copy, because the same patch may be applied elsewhere, too.
  if (segments.length === 2 && segments[0] === NEW_ROWS) return newRows.slice()
  let index = 0
  let next = 0
  for (let s = 0; s < segments.length; s += 2) {
    const end = index + (segments[s + 1] as number)
    if (segments[s] === NEW_ROWS) {
      while (index < end) rows[index++] = newRows[next++]
    }
    index = end
  }
  rows.length = index
  return rows
}

/** A place where new rows are inserted between kept rows, or replace rows that leave. */
interface ChangedPlace {
  /** The position in the result before. */
  readonly at: number
  readonly left: number
  readonly newRows: readonly unknown[]
}

/**
 * Returns the places in order; undefined if kept rows change their order, or if there are too many places for splicing to
 * pay.
 */
function changedPlaces(length: number, { segments, newRows }: RowPatch): ChangedPlace[] | undefined {
  if (segments.length > 4 * SPLICED_PLACES + 2 || newRows.length > SPLICED_ROWS) return undefined
  const places: ChangedPlace[] = []
  let at = 0
  let first = 0
  let next = 0
  const add = (end: number) => {
    if (end > at || next > first) places.push({ at, left: end - at, newRows: newRows.slice(first, next) })
    first = next
  }
  for (let s = 0; s < segments.length; s += 2) {
    const start = segments[s] as number
    const count = segments[s + 1] as number
    if (start === NEW_ROWS) next += count
    else if (start < at) return undefined
    else {
      add(start)
      at = start + count
    }
  }
  add(length)
  return places.length <= SPLICED_PLACES ? places : undefined
}

/** Splices from the last place to the first, so that the positions of the other places stay as they are. */
function splice(rows: unknown[], places: readonly ChangedPlace[]): unknown[] {
  for (let p = places.length - 1; p >= 0; p--) {
    const { at, left, newRows } = places[p] as ChangedPlace
    rows.splice(at, left, ...newRows)
  }
  return rows
}

/** Makes a result from few large segments, which V8 copies as blocks of memory. */
function concatenate(rows: unknown[], segments: readonly number[], newRows: unknown[]): unknown[] {
  const pieces: unknown[][] = []
  let next = 0
  for (let s = 0; s < segments.length; s += 2) {
    const start = segments[s] as number
    const count = segments[s + 1] as number
    if (start === NEW_ROWS) {
      pieces.push(newRows.slice(next, next + count))
      next += count
    } else pieces.push(rows.slice(start, start + count))
  }
  return ([] as unknown[]).concat(...pieces)
}

/** Makes a result from many small segments. */
function collect(rows: unknown[], segments: readonly number[], newRows: unknown[]): unknown[] {
  const result: unknown[] = []
  let next = 0
  for (let s = 0; s < segments.length; s += 2) {
    const start = segments[s] as number
    const count = segments[s + 1] as number
    if (start === NEW_ROWS) for (let i = 0; i < count; i++) result.push(newRows[next++])
    else for (let i = start; i < start + count; i++) result.push(rows[i])
  }
  return result
}

/** Returns the patch from one result to another. Rows are the same if they are the same object. */
export function patchBetween(
  before: readonly unknown[],
  now: readonly unknown[],
  columns: readonly string[],
): RowPatch {
  const positions = new Map(before.map((row, index) => [row, index]))
  const segments: number[] = []
  const newRows: unknown[] = []
  let expected = Number.NaN
  for (const row of now) {
    const position = positions.get(row)
    if (position === undefined) newRows.push(row)
    const start = position ?? NEW_ROWS
    if (start === expected) segments[segments.length - 1] = (segments.at(-1) as number) + 1
    else segments.push(start, 1)
    expected = start === NEW_ROWS ? NEW_ROWS : start + 1
  }
  return { query: 0, columns, segments, newRows }
}

/** Returns whether a patch leaves a result of `rows` rows as it is. */
export function changesNothing({ segments }: RowPatch, rows: number): boolean {
  if (segments.length === 0) return rows === 0
  return segments.length === 2 && segments[0] === 0 && segments[1] === rows
}
