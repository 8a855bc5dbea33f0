/** The part of a patch that {@link fold} reads: `patches`, `patchesBytes` and the events of `resqlite/sse` have it. */
export interface FoldablePatch<T> {
  readonly added: readonly { readonly index: number; readonly row: T }[]
  readonly removed: readonly { readonly index: number }[]
  readonly updated: readonly { readonly from: number; readonly index: number; readonly row: T }[]
  readonly moved: readonly { readonly from: number; readonly index: number }[]
}

/**
 * Returns the result to which a patch leads. Rows that did not change are the same objects. If nothing changed, so is the
 * array. Throws a RangeError if the patch does not lead on from these rows.
 *
 * ```ts
 * for await (const patch of live.patches({ key: 'id', rows: false })) rows = fold(rows, patch)
 * ```
 */
export function fold<T>(rows: readonly T[], patch: FoldablePatch<T>): readonly T[] {
  const { added, removed, updated, moved } = patch
  const gone = new Set([
    ...removed.map(({ index }) => index),
    ...[...updated, ...moved].map(({ from }) => from),
  ])
  const placed = [...added, ...updated, ...moved.map(({ from, index }) => ({ index, row: rows[from] as T }))]
  if (gone.size === 0 && placed.length === 0) return rows
  placed.sort((a, b) => a.index - b.index)
  const next: T[] = []
  let at = 0
  const keepUntil = (length: number) => {
    for (; next.length < length && at < rows.length; at++) if (!gone.has(at)) next.push(rows[at] as T)
  }
  for (const { index, row } of placed) {
    keepUntil(index)
    if (next.push(row) !== index + 1) throw misfit()
  }
  keepUntil(Number.POSITIVE_INFINITY)
  if (next.length !== rows.length - gone.size + placed.length) throw misfit()
  return next
}

function misfit(): RangeError {
  return new RangeError('The patch does not lead on from these rows')
}
