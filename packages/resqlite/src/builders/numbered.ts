import type { SqlValue } from '../core/types'

/**
 * Makes a list of parameters whose names are numbers, as in `?2`. Missing parameters are NULL. Returns undefined if a name is
 * not such a number.
 *
 * ```ts
 * numbered([['2', 'b'], ['1', 'a']]) // ['a', 'b']
 * ```
 */
export function numbered(params: readonly (readonly [string, SqlValue])[]): SqlValue[] | undefined {
  // SQLite numbers parameters from 1, and none has more than five digits.
  if (!params.every(([name]) => /^[1-9]\d{0,4}$/.test(name))) return undefined
  const list: SqlValue[] = []
  for (const [name, value] of params) list[Number(name) - 1] = value
  return Array.from(list, (value) => value ?? null)
}
