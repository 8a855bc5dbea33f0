import { pragmaOf, Scanner } from 'resqlite/adapter'

/** Returns the first word of a statement, in lower case; empty if there is none. */
export const firstWord = (sql: string): string => atStatement(sql).word() ?? ''

function atStatement(sql: string): Scanner {
  const scanner = new Scanner(sql)
  scanner.takeAll(';')
  return scanner
}

const CHANGES_ROWS = new Set(['insert', 'replace', 'update', 'delete'])
const WRITES = new Set([
  ...CHANGES_ROWS,
  ...['create', 'drop', 'alter', 'reindex', 'analyze', 'vacuum', 'attach', 'detach'],
])
const STEPS = new Set(['begin', 'commit', 'end', 'rollback', 'savepoint', 'release'])

/** Says whether a statement counts in `changes`, as far as its first word shows. */
export const changesRows = (word: string): boolean => CHANGES_ROWS.has(word)

/** Says whether a statement writes, as far as its first word shows. */
export const writes = (word: string): boolean => WRITES.has(word)

/** Says whether a statement concerns the connection as a whole, so that nothing may run beside it. */
export const runsAlone = (word: string): boolean => STEPS.has(word) || word === 'pragma'

const BARRED = new Set(['vacuum', 'attach', 'detach'])

const BARRED_PRAGMAS = new Set(['foreign_keys', 'wal_checkpoint'])

/** Says whether SQLite refuses or ignores a statement in a transaction. */
export const isBarredFromTransactions = (sql: string): boolean =>
  BARRED.has(firstWord(sql)) || BARRED_PRAGMAS.has(pragmaOf(sql)?.name ?? '')

/** Says whether a statement cannot be one of several in a transaction. */
export const runsByItself = (word: string): boolean => runsAlone(word) || BARRED.has(word)

/** Says whether a statement begins a transaction without a lock. */
export function isDeferred(sql: string): boolean {
  const scanner = atStatement(sql)
  return scanner.takeWord('begin') && !scanner.isAtWord('immediate') && !scanner.isAtWord('exclusive')
}

/** Says whether a statement creates something temporary: `CREATE TEMP TABLE found(id)`, or `CREATE TABLE temp.found(id)`. */
export function isTemporary(sql: string): boolean {
  const scanner = atStatement(sql)
  if (!scanner.takeWord('create')) return false
  if (scanner.takeWord('temp') || scanner.takeWord('temporary')) return true
  for (let name = scanner.name(); name !== undefined; name = scanner.name()) {
    if (scanner.take('.')) return name.toLowerCase() === 'temp'
  }
  return false
}
