import type { Patch } from 'resqlite'

/** Applies the lists of a patch to the result before. Does not use the result that the patch contains. */
export function fold<T>(
  before: readonly T[],
  { added, removed, updated, moved, rows }: Omit<Patch<T>, 'initial' | 'commit' | 'since' | 'version'>,
): T[] {
  const taken = new Set([...updated, ...moved].map(({ from }) => from))
  for (const { index } of removed) taken.add(index)
  const kept = before.filter((_, index) => !taken.has(index))
  const placed = new Map([...added, ...updated, ...moved].map(({ index, row }) => [index, row]))
  return rows.map((_, index) => (placed.has(index) ? placed.get(index) : kept.shift()) as T)
}
