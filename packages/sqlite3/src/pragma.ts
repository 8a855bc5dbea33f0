/** A PRAGMA with an argument, or one that asks for a value. */
export interface Pragma {
  readonly name: string
  readonly value: string | undefined
}

const PRAGMA =
  /^[\s;]*pragma\s+(?:(?:main|temp)\s*\.\s*)?(\w+)\s*(?:[=(]\s*(?:'(.*)'|"(.*)"|([-+\w.]*))\s*\)?)?\s*;?\s*$/is

/** Reads a PRAGMA; undefined for all other statements. */
export function pragmaOf(sql: string): Pragma | undefined {
  const [, name, single, double, plain] = PRAGMA.exec(sql) ?? []
  const value = single ?? double ?? plain
  return name === undefined ? undefined : { name: name.toLowerCase(), value: value?.toLowerCase() }
}

/** Whether the value of a PRAGMA that is a switch switches on. */
export const isOn = (value: string): boolean => /^(?:on|yes|true|[1-9]\d*)$/.test(value)

/** What decides only about memory and speed, what resqlite decides by itself, and what concerns caches that are shared. */
const TUNING = new Set([
  ...['auto_vacuum', 'automatic_index', 'cache_size', 'cache_spill', 'checkpoint_fullfsync', 'fullfsync'],
  ...['journal_size_limit', 'mmap_size', 'page_size', 'read_uncommitted', 'temp_store'],
  ...['threads', 'wal_autocheckpoint'],
])

/** What SQLite without encryption does not know, and so ignores. Sequelize sends a password that it is given. */
const UNKNOWN = /^(?:(?:hex|text)?(?:re)?key|cipher\w*|kdf_iter|legacy_file_format)$/

/** Values that are so anyway. */
const SO_ANYWAY: Readonly<Record<string, RegExp>> = {
  encoding: /^utf-?8$/,
  locking_mode: /^normal$/,
  query_only: /^(?:0|off|no|false)$/,
  synchronous: /^(?:0|off|1|normal)$/,
}

/** Whether a PRAGMA needs nothing to be done. `durable`: whether each commit is on the disk before it is acknowledged. */
export function isSoAnyway({ name, value }: Pragma, durable: boolean): boolean {
  if (value === undefined) return false
  if (TUNING.has(name) || UNKNOWN.test(name)) return true
  return SO_ANYWAY[name]?.test(value) === true || (name === 'synchronous' && durable)
}

/** PRAGMAs that resqlite sets on all connections, when a database is opened. */
export const AT_OPENING = new Set([
  ...['case_sensitive_like', 'cell_size_check', 'recursive_triggers'],
  ...['reverse_unordered_selects', 'secure_delete'],
])
