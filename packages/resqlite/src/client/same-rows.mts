/**
 * Returns rows in which those that are known already are the known objects; if all of them stand where they stood, the known
 * array.
 */
export function withKnownRows<T>(rows: readonly T[], known: readonly T[] | undefined): readonly T[] {
  if (known === undefined) return rows
  const objects = new Map(known.map((row) => [text(row), row]))
  const same = rows.map((row) => objects.get(text(row)) ?? row)
  return same.length === known.length && same.every((row, index) => row === known[index]) ? known : same
}

/** JSON.stringify does not tell infinities, NULL, −0 and 0 apart, and refuses bigints, which `parse` may have made. */
function text(row: unknown): string {
  return JSON.stringify(row, (_, value) => (isPlain(value) ? value : [typeof value, `${value}`]))
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  return typeof value !== 'bigint'
}
