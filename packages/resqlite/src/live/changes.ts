import type { AddedRow, Patch, RemovedRow, UpdatedRow } from '../core/live-types'
import type { Row } from '../core/types'
import type { Source } from './iterator-subscriber'
import { applyPatch, changesNothing, NEW_ROWS, patchBetween, type RowPatch } from './patches'
import { KeyColumns, type RowKey } from './row-keys'
import { type KeptRun, movedRuns } from './row-moves'
import type { Part, SharedStream } from './shared-query'

/** A row and where it stands. */
type Placed = AddedRow<Row>

/** Makes an iterator tell what changed since it was last asked. */
export class Changes implements Source<Patch> {
  readonly #result: KeyedResult
  #begun = false
  /** Emissions since the result that was told last. */
  #emissions = 0
  #patches: readonly RowPatch[] | undefined

  constructor(key: readonly string[]) {
    this.#result = new KeyedResult(new KeyColumns(key))
  }

  emitted(patches: readonly RowPatch[] | undefined): void {
    this.#emissions++
    this.#patches = patches
  }

  take(stream: SharedStream): Patch | undefined {
    const initial = !this.#begun
    const patch = this.#patch(stream.part(0), initial)
    this.#begun = true
    this.#emissions = 0
    this.#patches = undefined
    if (patch === undefined) return undefined
    return this.#result.advance(patch, stream.emission?.commit ?? 0, initial)
  }

  /** What came, if that is all since the last time; else what can be seen by comparing. */
  #patch({ rows, columns }: Part, initial: boolean): RowPatch | undefined {
    if (!initial && this.#emissions === 1 && this.#patches !== undefined) return this.#patches[0]
    const before = this.#result.rows
    const patch = patchBetween(before, rows, columns)
    return !initial && changesNothing(patch, before.length) ? undefined : patch
  }
}

/** A result whose rows are told apart by their keys, and how it changes. */
export class KeyedResult {
  readonly #columns: KeyColumns
  #rows: unknown[] = []
  readonly #keys = new Set<RowKey>()

  constructor(columns: KeyColumns) {
    this.#columns = columns
  }

  /** The rows now; only to be looked at. */
  get rows(): readonly unknown[] {
    return this.#rows
  }

  /** Goes on to the next result and tells how they differ. Looks only at rows that changed. */
  advance(patch: RowPatch, commit: number, initial: boolean): Patch {
    this.#columns.check(patch.columns)
    const { kept, arrived } = split(patch)
    const gone = this.#gone(kept)
    for (const { row } of gone) this.#keys.delete(this.#columns.of(row))
    const lists = this.#pair(gone, arrived)
    const moved = movedRuns(kept).flatMap((run) => this.#rowsOf(run))
    this.#rows = applyPatch(this.#rows, patch)
    return { initial, rows: this.#rows.slice() as Row[], ...lists, moved, commit }
  }

  /** The rows that are in no run that is kept, in their order. */
  #gone(kept: readonly KeptRun[]): Placed[] {
    const gone: Placed[] = []
    let index = 0
    for (const { start, count } of inOldOrder(kept)) {
      // Equal rows may be one and the same for the native side.
      if (start < index) throw this.#columns.notUnique(this.#rows[start] as Row)
      for (; index < start; index++) gone.push(this.#placed(index))
      index = start + count
    }
    for (; index < this.#rows.length; index++) gone.push(this.#placed(index))
    return gone
  }

  /** A row that went and one that came with the same key are one row that was updated. */
  #pair(gone: readonly Placed[], arrived: readonly Placed[]) {
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

  #rowsOf({ start, count, index }: KeptRun) {
    return Array.from({ length: count }, (_, i) => {
      const row = this.#rows[start + i] as Row
      return { from: start + i, index: index + i, row }
    })
  }

  #placed(index: number): Placed {
    return { index, row: this.#rows[index] as Row }
  }
}

function split({ runs, fresh }: RowPatch): { kept: KeptRun[]; arrived: Placed[] } {
  const kept: KeptRun[] = []
  const arrived: Placed[] = []
  let index = 0
  for (let r = 0; r < runs.length; r += 2) {
    const start = runs[r] as number
    const count = runs[r + 1] as number
    if (start !== NEW_ROWS) kept.push({ start, count, index })
    else {
      for (let i = 0; i < count; i++) {
        arrived.push({ index: index + i, row: fresh[arrived.length] as Row })
      }
    }
    index += count
  }
  return { kept, arrived }
}

function inOldOrder(kept: readonly KeptRun[]): KeptRun[] {
  return [...kept].sort((a, b) => a.start - b.start)
}
