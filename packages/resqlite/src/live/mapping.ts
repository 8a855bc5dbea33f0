import type { RowArray } from '../core/types'
import type { RowLists } from './keyed-result'
import type { Columns } from './row-keys'

/**
 * Makes the rows of a live query from those of SQLite, which are arrays. It makes one object of each row, however often it
 * gets that row.
 */
export interface Mapping<V = unknown> {
  /** An id that two mappings share only if they make the same value of the same result. */
  readonly id: string
  /** Returns the value of the live query. */
  valueOf(rows: readonly RowArray[]): V
  /** Returns the row that is made of each row of SQLite. */
  list(rows: readonly RowArray[]): unknown[]
  /** Returns the columns that a key names. Throws if the key names something else. */
  keyColumns(method: string, key: unknown): Columns
}

/** Returns lists that belong to the caller, with the rows that a mapping makes. */
export function ownLists({ added, removed, updated, moved }: RowLists, mapping?: Mapping): RowLists {
  // Mapping many rows at once is quicker. After that, each row is known.
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
