import { Scanner } from './scanner'

/** The facts that SQLite's functions `last_insert_rowid()` and `changes()` return about a connection. */
export interface Facts {
  readonly last_insert_rowid: number | bigint
  readonly changes: number
}

/**
 * A statement with the facts in it. If a column is one of the functions, `nameOf` restores its name. A column that computes
 * with a function gets another name.
 */
export interface StatementWithFacts {
  readonly sql: string
  readonly nameOf: (column: string) => string
}

/**
 * Writes the facts into a statement in place of the functions. The connections of resqlite also serve other callers, so they
 * do not know the facts of this one. A trigger or a view calls the functions when it runs, so it is left as it is.
 *
 * ```ts
 * withFacts('SELECT changes()', { last_insert_rowid: 7, changes: 2 }).sql // 'SELECT (+2)'
 * ```
 */
export function withFacts(sql: string, facts: Facts): StatementWithFacts {
  if (!/last_insert_rowid|changes/i.test(sql)) return { sql, nameOf: (name) => name }
  const scanner = new Scanner(sql)
  scanner.takeAll(';')
  if (scanner.isAtWord('create')) return { sql, nameOf: (name) => name }
  const names = new Map<string, string>()
  const written: string[] = []
  let writtenUntil = 0
  while (!scanner.atEnd) {
    const start = scanner.position
    const value = valueAt(scanner, facts)
    if (value === undefined || !scanner.take('(')) continue
    const end = scanner.position + 1
    if (!scanner.take(')')) continue
    names.set(value, sql.slice(start, end))
    written.push(sql.slice(writtenUntil, start), value)
    writtenUntil = end
  }
  return { sql: written.join('') + sql.slice(writtenUntil), nameOf: (name) => names.get(name) ?? name }
}

/**
 * Reads a token. If it is the name of one of the functions, returns the text to write instead. The sign keeps equal facts
 * apart.
 */
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
