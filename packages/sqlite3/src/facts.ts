import type { Row } from 'resqlite'

/** What SQLite's functions `last_insert_rowid()` and `changes()` tell of a connection. */
export interface Facts {
  readonly last_insert_rowid: number
  readonly changes: number
}

const CALL = /\b(last_insert_rowid|changes)\s*\(\s*\)/gi
const SIGN: Record<keyof Facts, string> = { last_insert_rowid: '', changes: '+' }

/**
 * Writes the facts into a statement in the place of the functions: the connections of resqlite serve others, too, and know
 * nothing of who asks. Columns that had their names from the functions have other names then, which `named` gives back.
 */
export function withFacts(sql: string, facts: Facts): { sql: string; named: (row: Row) => Row } {
  const names: Record<string, string> = {}
  const written = sql.replace(CALL, (call: string, name: string) => {
    const fact = name.toLowerCase() as keyof Facts
    const value = `(${SIGN[fact]}${facts[fact]})`
    names[value] = call
    return value
  })
  if (written === sql) return { sql, named: (row) => row }
  const named = (row: Row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [names[name] ?? name, value]))
  return { sql: written, named }
}
