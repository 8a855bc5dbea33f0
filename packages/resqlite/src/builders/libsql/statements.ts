import type { SqlValue } from '../../core/types'
import { numbered } from '../numbered'
import type { InArgs, InStatement, IntMode, InValue } from './types'

/** A statement in the form that resqlite accepts. */
export interface Statement {
  readonly sql: string
  readonly params: SqlValue[] | Record<string, SqlValue>
}

export function statementOf(
  statement: InStatement | readonly [string, InArgs?],
  intMode: IntMode,
  given?: InArgs,
): Statement {
  if (typeof statement === 'string') return { sql: statement, params: paramsOf(given, intMode) }
  if (isTuple(statement)) return { sql: statement[0], params: paramsOf(statement[1], intMode) }
  return { sql: statement.sql, params: paramsOf(statement.args, intMode) }
}

function isTuple(statement: object): statement is readonly [string, InArgs?] {
  return Array.isArray(statement)
}

function paramsOf(args: InArgs | undefined, intMode: IntMode): Statement['params'] {
  if (Array.isArray(args)) return args.map((value) => toSql(value, intMode))
  const named = Object.entries(args ?? {}).map(([name, value]) => [name, toSql(value, intMode)] as const)
  return numbered(named) ?? Object.fromEntries(named)
}

function toSql(value: InValue, intMode: IntMode): SqlValue {
  if (value === undefined) throw new TypeError('undefined cannot be passed as argument to the database')
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError('Only finite numbers (not Infinity or NaN) can be passed as arguments')
  }
  if (typeof value === 'boolean') return intMode === 'string' ? String(Number(value)) : value
  if (value instanceof Date) return value.valueOf()
  return value instanceof ArrayBuffer ? new Uint8Array(value) : value
}
