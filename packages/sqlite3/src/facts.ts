import type { Row } from 'resqlite'
import { Scanner } from 'resqlite/adapter'

/** What SQLite's functions `last_insert_rowid()` and `changes()` tell of a connection. */
export interface Facts {
  readonly last_insert_rowid: number
  readonly changes: number
}

/**
 * Writes the facts into a statement in the place of the functions: the connections of resqlite serve others, too, and know
 * nothing of who asks. Columns that had their names from the functions have other names then, which `named` gives back.
 */
export function withFacts(sql: string, facts: Facts): { sql: string; named: (row: Row) => Row } {
  if (!/last_insert_rowid|changes/i.test(sql)) return { sql, named: (row) => row }
  const names: Record<string, string> = {}
  const written: string[] = []
  let writtenUntil = 0
  const scanner = new Scanner(sql)
  while (!scanner.atEnd) {
    const start = scanner.position
    const value = valueAt(scanner, facts)
    if (value === undefined || !scanner.take('(')) continue
    const end = scanner.position + 1
    if (!scanner.take(')')) continue
    names[value] = sql.slice(start, end)
    written.push(sql.slice(writtenUntil, start), value)
    writtenUntil = end
  }
  const named = (row: Row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [names[name] ?? name, value]))
  return { sql: written.join('') + sql.slice(writtenUntil), named }
}

/** Reads a token: what is written for it, if it is the name of one of the functions. The sign tells equal facts apart. */
function valueAt(scanner: Scanner, { last_insert_rowid, changes }: Facts): string | undefined {
  switch (scanner.word()) {
    case 'last_insert_rowid':
      return `(${last_insert_rowid})`
    case 'changes':
      return `(+${changes})`
    case undefined:
      scanner.skipToken()
  }
  return undefined
}
