import { Scanner } from './scanner'

/** A PRAGMA of the database itself, in lower case. */
export interface Pragma {
  /** The name of the PRAGMA, without the name of the schema. */
  readonly name: string
  /** The value that the PRAGMA sets or asks about; undefined if it has none. */
  readonly value: string | undefined
}

/**
 * Reads a PRAGMA in every form in which SQLite reads it. Returns undefined for all other statements, for PRAGMAs of attached
 * databases, and if another statement follows.
 *
 * ```ts
 * pragmaOf('PRAGMA main.busy_timeout(5000)') // { name: 'busy_timeout', value: '5000' }
 * ```
 */
export function pragmaOf(sql: string): Pragma | undefined {
  const scanner = new Scanner(sql)
  scanner.takeAll(';')
  const pragma = pragmaAt(scanner)
  scanner.takeAll(';')
  return scanner.atEnd ? pragma : undefined
}

/** Reads the PRAGMA at the position of a scanner. Returns undefined if there is none. */
export function pragmaAt(scanner: Scanner): Pragma | undefined {
  if (!scanner.takeWord('pragma')) return undefined
  let name = scanner.name()?.toLowerCase()
  if ((name === 'main' || name === 'temp') && scanner.take('.')) name = scanner.name()?.toLowerCase()
  if (name === undefined) return undefined
  const inParentheses = scanner.take('(')
  if (!inParentheses && !scanner.take('=')) return { name, value: undefined }
  const value = valueAt(scanner)?.toLowerCase()
  return value === undefined || (inParentheses && !scanner.take(')')) ? undefined : { name, value }
}

function valueAt(scanner: Scanner): string | undefined {
  const negative = scanner.take('-')
  const number = negative || scanner.take('+') ? scanner.number() : (scanner.number() ?? scanner.name())
  return negative && number !== undefined ? `-${number}` : number
}

/** Says whether a value in lower case switches a PRAGMA on. As in SQLite, unknown words and numbers beyond 32 bits do not. */
export function isOn(value: string): boolean {
  const number = Number(/^(?:0x[\da-f]+|\d+)/.exec(value)?.[0] ?? /^(?:on|yes|true)$/.test(value))
  return number !== 0 && number < 2 ** 31
}

/**
 * The PRAGMAs that need not run: they decide only about memory and speed, resqlite decides them itself, or they concern
 * shared caches.
 */
const TUNING = new Set([
  ...['auto_vacuum', 'automatic_index', 'cache_size', 'cache_spill', 'checkpoint_fullfsync', 'fullfsync'],
  ...['journal_size_limit', 'mmap_size', 'page_size', 'read_uncommitted', 'temp_store'],
  ...['threads', 'wal_autocheckpoint'],
])

/** The values of PRAGMAs that hold in resqlite anyway. */
const SO_ANYWAY: Readonly<Record<string, RegExp>> = {
  encoding: /^utf-?8$/,
  locking_mode: /^normal$/,
  query_only: /^(?:0|off|no|false)$/,
  synchronous: /^(?:0|off|1|normal)$/,
}

/**
 * Says whether a PRAGMA that sets SQLite up need not run. Then it asks for a setting that holds anyway, or decides only about
 * memory and speed, about which resqlite decides itself. `durable`: each commit is on the disk before it is acknowledged.
 */
export function isSoAnyway({ name, value }: Pragma, durable: boolean): boolean {
  if (value === undefined) return false
  return TUNING.has(name) || SO_ANYWAY[name]?.test(value) === true || (name === 'synchronous' && durable)
}
