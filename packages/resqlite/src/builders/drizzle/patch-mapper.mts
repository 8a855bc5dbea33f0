import type { LeanPatch, Patch } from '../../core/live-types.js'
import type { RowArray } from '../../core/types.js'
import type { RowMapper } from './row-mapper.mjs'

/** Returns a patch with what Drizzle makes of its rows. */
export function mappedPatch(
  patch: Patch<RowArray> | LeanPatch<RowArray>,
  mapper: RowMapper<unknown>,
): Patch<unknown> | LeanPatch<unknown> {
  const { added, removed, updated, moved } = patch
  // Drizzle's mapper takes many rows at once.
  mapper.list([...added, ...updated].map(({ row }) => row))
  const row = (row: RowArray) => mapper.row(row)
  const mapped = {
    ...patch,
    added: added.map((entry) => ({ ...entry, row: row(entry.row) })),
    removed: removed.map((entry) => ({ ...entry, row: row(entry.row) })),
    updated: updated.map((entry) => ({ ...entry, previous: row(entry.previous), row: row(entry.row) })),
    moved: moved.map((entry) => ({ ...entry, row: row(entry.row) })),
  }
  return 'rows' in patch ? { ...mapped, rows: mapper.list(patch.rows) } : mapped
}
