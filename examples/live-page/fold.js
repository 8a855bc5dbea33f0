// Runs in the browser.

/** The rows after a patch of `changes()`, from the rows before it. */
export function fold(rows, { initial, added, removed, updated, moved }) {
  const left = new Set([
    ...removed.map(({ index }) => index),
    ...[...updated, ...moved].map(({ from }) => from),
  ])
  const next = initial ? [] : rows.filter((_, index) => !left.has(index))
  const placed = [...added, ...updated, ...moved].sort((a, b) => a.index - b.index)
  for (const { index, row } of placed) next.splice(index, 0, row)
  return next
}
