import type { Patch } from 'resqlite'

/** Applies what a patch tells (and not the result that it carries) to the result before. */
export function fold<T>(before: readonly T[], { added, removed, updated, moved, rows }: Patch<T>): T[] {
  const taken = new Set([...updated, ...moved].map(({ from }) => from))
  for (const { index } of removed) taken.add(index)
  const kept = before.filter((_, index) => !taken.has(index))
  const placed = new Map([...added, ...updated, ...moved].map(({ index, row }) => [index, row]))
  return rows.map((_, index) => (placed.has(index) ? placed.get(index) : kept.shift()) as T)
}
