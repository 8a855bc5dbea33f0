import type { Column, QueryResult } from '../../core/query-types'
import type { RowArray } from '../../core/types'
import { isSoAnyway, pragmaOf } from '../pragma'
import { NOTHING } from './results'

/**
 * Returns the result of a PRAGMA that sets SQLite up and that resqlite need not run. Returns undefined for all other
 * statements. `durable`: a commit is on the disk before its promise resolves.
 */
export function settled(sql: string, durable: boolean): QueryResult<RowArray> | undefined {
  const pragma = pragmaOf(sql)
  if (pragma?.value === undefined) return undefined
  const { name, value } = pragma
  if (name === 'journal_mode' && value === 'wal') return answer('journal_mode', value)
  if (name === 'busy_timeout') return answer('timeout', Number(value))
  return isSoAnyway(pragma, durable) ? NOTHING : undefined
}

function answer(name: string, value: string | number): QueryResult<RowArray> {
  const column: Column = { name, type: null, table: null, column: null, database: null }
  return { ...NOTHING, rows: [[value]], columns: [column] }
}
