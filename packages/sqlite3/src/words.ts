const BEFORE = /^(?:[\s;\ufeff]|--[^\n]*(?:\n|$)|\/\*.*?\*\/)*/s

/** The first word of a statement, in lower case; empty if there is none. */
export function firstWord(sql: string): string {
  const start = BEFORE.exec(sql)?.[0].length ?? 0
  return /^[a-z]*/i.exec(sql.slice(start, start + 20))?.[0].toLowerCase() ?? ''
}

const CHANGES_ROWS = new Set(['insert', 'replace', 'update', 'delete'])
const WRITES = new Set([
  ...CHANGES_ROWS,
  ...['create', 'drop', 'alter', 'reindex', 'analyze', 'vacuum', 'attach', 'detach'],
])
const STEPS = new Set(['begin', 'commit', 'end', 'rollback', 'savepoint', 'release'])

/** Whether the statement counts in `changes`, as far as its first word tells. */
export const changesRows = (word: string): boolean => CHANGES_ROWS.has(word)

/** Whether the statement writes, as far as its first word tells. */
export const writes = (word: string): boolean => WRITES.has(word)

/** Whether the statement concerns the connection as a whole, so that nothing may run beside it. */
export const runsAlone = (word: string): boolean => STEPS.has(word) || word === 'pragma'

/** Whether a statement with this first word begins a transaction without a lock. */
export const isDeferred = (word: string, sql: string): boolean =>
  word === 'begin' && !/\b(?:immediate|exclusive)\b/i.test(sql)
