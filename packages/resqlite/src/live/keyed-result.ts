import type { AddedRow, LeanPatch, UpdatedRow } from '../core/live-types'
import type { Row } from '../core/types'
import { NEW_ROWS } from '../wire/protocol'
import { applyPatch, patchBetween, type RowPatch } from './patches'
import type { KeyColumns, RowKey } from './row-keys'
import { type KeptSegment, movedSegments } from './row-moves'

/** A row and its position. */
type PlacedRow = AddedRow<Row>

/** The differences between two results, by key. */
export type RowLists = Pick<LeanPatch<Row>, 'added' | 'removed' | 'updated' | 'moved'>

/** The same differences, also as segments. */
export interface Difference extends RowLists {
  readonly patch: RowPatch
}

/** The changes from one version of a result to another. The first step begins at version 0. */
export type Step = Difference & Pick<LeanPatch, 'since' | 'version' | 'commit'>

/** A result whose rows are identified by keys. It computes what a patch adds, removes, updates and moves. */
export class KeyedResult {
  readonly #columns: KeyColumns
  #names: readonly string[] = []
  #rows: unknown[] = []
  readonly #keys = new Set<RowKey>()

  constructor(columns: KeyColumns) {
    this.#columns = columns
  }

  /** The present rows. They must not be modified. */
  get rows(): readonly unknown[] {
    return this.#rows
  }

  /**
   * Returns the changes of the next patch, and takes over its keys. Looks only at the rows that change. After an error the
   * result must not be used any more, except for its rows.
   */
  advance(patch: RowPatch): RowLists {
    this.#columns.check(patch.columns)
    this.#names = patch.columns
    const lists = this.#lists(this.#rows, patch)
    for (const { row } of lists.removed) this.#keys.delete(this.#columns.of(row))
    for (const { row } of lists.added) {
      const key = this.#columns.of(row)
      if (this.#keys.has(key)) throw this.#columns.notUnique(row)
      this.#keys.add(key)
    }
    return lists
  }

  /** Applies a patch whose keys were taken over. `inPlace`: the array of the present rows may be modified. */
  apply(patch: RowPatch, inPlace: boolean): void {
    this.#rows = applyPatch(this.#rows, patch, inPlace)
  }

  /** Returns the differences from an earlier result. */
  since(before: readonly unknown[]): Difference {
    const patch = patchBetween(before, this.#rows, this.#names)
    return { ...this.#lists(before, patch), patch }
  }

  #lists(before: readonly unknown[], patch: RowPatch): RowLists {
    const { kept, arrived } = split(patch)
    const moved = movedSegments(kept).flatMap(({ start, count, index }) =>
      Array.from({ length: count }, (_, i) => {
        return { from: start + i, index: index + i, row: before[start + i] as Row }
      }),
    )
    return { ...this.#pair(this.#gone(before, kept), arrived), moved }
  }

  /** Returns the rows that are in no kept segment, in order. */
  #gone(before: readonly unknown[], kept: readonly KeptSegment[]): PlacedRow[] {
    const gone: PlacedRow[] = []
    let index = 0
    for (const { start, count } of inOldOrder(kept)) {
      // Segments overlap when the native side has mapped two equal rows to the same old row.
      if (start < index) throw this.#columns.notUnique(before[start] as Row)
      for (; index < start; index++) gone.push({ index, row: before[index] as Row })
      index = start + count
    }
    for (; index < before.length; index++) gone.push({ index, row: before[index] as Row })
    return gone
  }

  /** Pairs rows that left with rows that arrived, by their keys. Each pair is one row that was updated. */
  #pair(gone: readonly PlacedRow[], arrived: readonly PlacedRow[]): Omit<RowLists, 'moved'> {
    const before = new Map(gone.map((placed) => [this.#columns.of(placed.row), placed]))
    const added: AddedRow<Row>[] = []
    const updated: UpdatedRow<Row>[] = []
    for (const { index, row } of arrived) {
      const key = this.#columns.of(row)
      const old = before.get(key)
      if (old === undefined) added.push({ index, row })
      else updated.push({ from: old.index, index, previous: old.row, row })
      before.delete(key)
    }
    return { added, removed: [...before.values()], updated }
  }
}

/** Splits a patch into kept segments and new rows. */
function split({ segments, newRows }: RowPatch): { kept: KeptSegment[]; arrived: PlacedRow[] } {
  const kept: KeptSegment[] = []
  const arrived: PlacedRow[] = []
  let index = 0
  for (let s = 0; s < segments.length; s += 2) {
    const start = segments[s] as number
    const count = segments[s + 1] as number
    if (start !== NEW_ROWS) kept.push({ start, count, index })
    else {
      for (let i = 0; i < count; i++) {
        arrived.push({ index: index + i, row: newRows[arrived.length] as Row })
      }
    }
    index += count
  }
  return { kept, arrived }
}

function inOldOrder(kept: readonly KeptSegment[]): KeptSegment[] {
  return [...kept].sort((a, b) => a.start - b.start)
}
