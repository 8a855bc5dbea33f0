import type { AddedRow, Patch, RemovedRow, UpdatedRow } from '../core/live-types'
import type { Row } from '../core/types'
import { NEW_ROWS } from '../wire/protocol'
import type { IteratorValues } from './iterator-subscriber'
import { applyPatch, changesNothing, patchBetween, type RowPatch } from './patches'
import { KeyColumns, type RowKey } from './row-keys'
import { type KeptSegment, movedSegments } from './row-moves'
import type { QueryResult, SharedQuery } from './shared-query'

/** A row and its position. */
type PlacedRow = AddedRow<Row>

/** The values of the iterator that `changes` returns: what changed since the last one. */
export class Changes implements IteratorValues<Patch> {
  readonly #result: KeyedResult
  #hasBegun = false
  /** The number of emissions since the last value, and the patches of the latest. */
  #emissions = 0
  #patches: readonly RowPatch[] | undefined

  constructor(key: readonly string[]) {
    this.#result = new KeyedResult(new KeyColumns(key))
  }

  emitted(patches: readonly RowPatch[] | undefined): void {
    this.#emissions++
    this.#patches = patches
  }

  take(shared: SharedQuery): Patch | undefined {
    const initial = !this.#hasBegun
    const patch = this.#patch(shared.result(0), initial)
    this.#hasBegun = true
    this.#emissions = 0
    this.#patches = undefined
    if (patch === undefined) return undefined
    return this.#result.advance(patch, shared.emission?.commit ?? 0, initial)
  }

  /** Returns the patch of the only emission since the last value; else compares the results. */
  #patch({ rows, columns }: QueryResult, initial: boolean): RowPatch | undefined {
    if (!initial && this.#emissions === 1 && this.#patches !== undefined) return this.#patches[0]
    const before = this.#result.rows
    const patch = patchBetween(before, rows, columns)
    return !initial && changesNothing(patch, before.length) ? undefined : patch
  }
}

/** A result whose rows are identified by keys. It computes what a patch adds, removes, updates and moves. */
export class KeyedResult {
  readonly #columns: KeyColumns
  #rows: unknown[] = []
  readonly #keys = new Set<RowKey>()

  constructor(columns: KeyColumns) {
    this.#columns = columns
  }

  /** The present rows. They must not be modified. */
  get rows(): readonly unknown[] {
    return this.#rows
  }

  /** Applies a patch and returns what it changed. Looks only at the rows that changed. */
  advance(patch: RowPatch, commit: number, initial: boolean): Patch {
    this.#columns.check(patch.columns)
    const { kept, arrived } = split(patch)
    const gone = this.#gone(kept)
    for (const { row } of gone) this.#keys.delete(this.#columns.of(row))
    const lists = this.#pair(gone, arrived)
    const moved = movedSegments(kept).flatMap((segment) => this.#rowsOf(segment))
    this.#rows = applyPatch(this.#rows, patch)
    return { initial, rows: this.#rows.slice() as Row[], ...lists, moved, commit }
  }

  /** Returns the rows that are in no kept segment, in order. */
  #gone(kept: readonly KeptSegment[]): PlacedRow[] {
    const gone: PlacedRow[] = []
    let index = 0
    for (const { start, count } of inOldOrder(kept)) {
      // Segments overlap when the native side has mapped two equal rows to the same old one.
      if (start < index) throw this.#columns.notUnique(this.#rows[start] as Row)
      for (; index < start; index++) gone.push(this.#placed(index))
      index = start + count
    }
    for (; index < this.#rows.length; index++) gone.push(this.#placed(index))
    return gone
  }

  /** Pairs rows that left with rows that arrived by their keys: such a pair is one row that was updated. */
  #pair(gone: readonly PlacedRow[], arrived: readonly PlacedRow[]) {
    const before = new Map(gone.map((placed) => [this.#columns.of(placed.row), placed]))
    const added: AddedRow<Row>[] = []
    const updated: UpdatedRow<Row>[] = []
    for (const { index, row } of arrived) {
      const key = this.#columns.of(row)
      if (this.#keys.has(key)) throw this.#columns.notUnique(row)
      this.#keys.add(key)
      const old = before.get(key)
      if (old === undefined) added.push({ index, row })
      else updated.push({ from: old.index, index, previous: old.row, row })
      before.delete(key)
    }
    const removed: RemovedRow<Row>[] = [...before.values()]
    return { added, removed, updated }
  }

  #rowsOf({ start, count, index }: KeptSegment) {
    return Array.from({ length: count }, (_, i) => {
      const row = this.#rows[start + i] as Row
      return { from: start + i, index: index + i, row }
    })
  }

  #placed(index: number): PlacedRow {
    return { index, row: this.#rows[index] as Row }
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
