import type { RowArray } from '../core/types'
import type { RowLists } from './keyed-result'
import type { Columns } from './row-keys'

/** Makes the rows of a live query from those of SQLite, which are arrays. It makes one object of a row, however often it gets it. */
export interface Mapping<V = unknown> {
  /** The same for mappings that make the same of the same result, and for no others. */
  readonly id: string
  /** Returns the value of the live query. */
  valueOf(rows: readonly RowArray[]): V
  /** Returns what is made of each row. */
  list(rows: readonly RowArray[]): unknown[]
  /** Returns the columns that a key names. Throws if it names others. */
  keyColumns(method: string, key: unknown): Columns
}

/** Returns lists of the caller's own, with what a mapping makes of the rows. */
export function ownLists({ added, removed, updated, moved }: RowLists, mapping?: Mapping): RowLists {
  // Many rows at once are quicker; each is then known.
  mapping?.list([...added, ...updated].map(({ row }) => row as never))
  const made = <R>(row: R) => (mapping === undefined ? row : (mapping.list([row as never])[0] as R))
  return {
    added: added.map(({ index, row }) => ({ index, row: made(row) })),
    removed: removed.map(({ index, row }) => ({ index, row: made(row) })),
    updated: updated.map(({ from, index, previous, row }) => {
      return { from, index, previous: made(previous), row: made(row) }
    }),
    moved: moved.map(({ from, index, row }) => ({ from, index, row: made(row) })),
  }
}
