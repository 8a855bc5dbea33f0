/** What a statement does with `PRAGMA foreign_keys`. */
export type ForeignKeysPragma = 'get' | 'on' | 'off'

const PRAGMA = /^\s*pragma\s+foreign_keys\s*(?:[=(]\s*(['"]?)(\w+)\1\s*\)?\s*)?;?\s*$/i
const ON = new Set(['1', 'on', 'yes', 'true'])

/** Recognises the PRAGMA as query builders write it; undefined for all other statements. */
export function foreignKeysPragma(sql: string): ForeignKeysPragma | undefined {
  const match = PRAGMA.exec(sql)
  if (match === null) return undefined
  const value = match[2]?.toLowerCase()
  if (value === undefined) return 'get'
  return ON.has(value) ? 'on' : 'off'
}
