import { JOINED_RUNS } from '../core/limits'

/** The start of a run of new rows. */
export const NEW_ROWS = -1

/** How one result becomes the next. */
export interface RowPatch {
  /** Which of the queries of the stream. */
  readonly part: number
  readonly columns: readonly string[]
  /** Pairs: where the rows of a run stood before (or NEW_ROWS), and how many there are. */
  readonly runs: readonly number[]
  /** The new rows, in order. */
  readonly fresh: unknown[]
}

/** The next result. `rows`, the one before, is used up: it may be changed and become the result. */
export function applyPatch(rows: unknown[], { runs, fresh }: RowPatch): unknown[] {
  if (nothingMoves(runs)) return overwrite(rows, runs, fresh)
  return runs.length <= 2 * JOINED_RUNS ? join(rows, runs, fresh) : collect(rows, runs, fresh)
}

/** Whether all rows that stay keep their place. */
function nothingMoves(runs: readonly number[]): boolean {
  let index = 0
  for (let r = 0; r < runs.length; r += 2) {
    const start = runs[r] as number
    if (start !== NEW_ROWS && start !== index) return false
    index += runs[r + 1] as number
  }
  return true
}

function overwrite(rows: unknown[], runs: readonly number[], fresh: unknown[]): unknown[] {
  // A copy, because the patch may be applied elsewhere too.
  if (runs.length === 2 && runs[0] === NEW_ROWS) return fresh.slice()
  let index = 0
  let next = 0
  for (let r = 0; r < runs.length; r += 2) {
    const end = index + (runs[r + 1] as number)
    if (runs[r] === NEW_ROWS) {
      while (index < end) rows[index++] = fresh[next++]
    }
    index = end
  }
  rows.length = index
  return rows
}

/** By few large pieces, which the engine copies as blocks of memory. */
function join(rows: unknown[], runs: readonly number[], fresh: unknown[]): unknown[] {
  const pieces: unknown[][] = []
  let next = 0
  for (let r = 0; r < runs.length; r += 2) {
    const start = runs[r] as number
    const count = runs[r + 1] as number
    if (start === NEW_ROWS) {
      pieces.push(fresh.slice(next, next + count))
      next += count
    } else pieces.push(rows.slice(start, start + count))
  }
  return ([] as unknown[]).concat(...pieces)
}

function collect(rows: unknown[], runs: readonly number[], fresh: unknown[]): unknown[] {
  const result: unknown[] = []
  let next = 0
  for (let r = 0; r < runs.length; r += 2) {
    const start = runs[r] as number
    const count = runs[r + 1] as number
    if (start === NEW_ROWS) for (let i = 0; i < count; i++) result.push(fresh[next++])
    else for (let i = start; i < start + count; i++) result.push(rows[i])
  }
  return result
}

/** The patch from one result to another, by the identity of the rows. */
export function patchBetween(
  before: readonly unknown[],
  now: readonly unknown[],
  columns: readonly string[],
): RowPatch {
  const places = new Map(before.map((row, index) => [row, index]))
  const runs: number[] = []
  const fresh: unknown[] = []
  let expected = Number.NaN
  for (const row of now) {
    const place = places.get(row)
    if (place === undefined) fresh.push(row)
    const start = place ?? NEW_ROWS
    if (start === expected) runs[runs.length - 1] = (runs.at(-1) as number) + 1
    else runs.push(start, 1)
    expected = start === NEW_ROWS ? NEW_ROWS : start + 1
  }
  return { part: 0, columns, runs, fresh }
}

/** Whether a patch leaves `rows` rows as they are. */
export function changesNothing({ runs }: RowPatch, rows: number): boolean {
  if (runs.length === 0) return rows === 0
  return runs.length === 2 && runs[0] === 0 && runs[1] === rows
}
