import type { Column, QueryResult } from '../../core/query-types'
import type { RowArray } from '../../core/types'
import { NOTHING } from './results'

const SETS = /^[\s;]*pragma\s+(?:main\s*\.\s*)?(\w+)\s*[=(]\s*(["']?)([-+\w.]+)\2\s*\)?[\s;]*$/i

/** What decides only about memory and speed. */
const TUNING = /^(?:cache_size|journal_size_limit|mmap_size|page_size|temp_store|wal_autocheckpoint)$/

/** Values that are so anyway. */
const SO_ANYWAY: Readonly<Record<string, RegExp>> = {
  encoding: /^utf-?8$/,
  locking_mode: /^normal$/,
  synchronous: /^(?:0|off|1|normal)$/,
}

/**
 * What a PRAGMA answers by which programs set SQLite up, and which resqlite need not carry out: it has a write-ahead log, waits
 * for locks, and decides about memory by itself. Undefined for all other statements. `durable`: whether a commit is on the disk
 * before its promise resolves.
 */
export function settled(sql: string, durable: boolean): QueryResult<RowArray> | undefined {
  const [, name = '', , value = ''] = (SETS.exec(sql) ?? []).map((part) => part.toLowerCase())
  if (name === 'journal_mode' && value === 'wal') return answer('journal_mode', value)
  if (name === 'busy_timeout') return answer('timeout', Number(value))
  if (name === 'synchronous' && durable) return NOTHING
  return TUNING.test(name) || SO_ANYWAY[name]?.test(value) ? NOTHING : undefined
}

function answer(name: string, value: string | number): QueryResult<RowArray> {
  const column: Column = { name, type: null, table: null, column: null, database: null }
  return { ...NOTHING, rows: [[value]], columns: [column] }
}
