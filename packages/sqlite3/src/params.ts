import type { SqlValue } from 'resqlite'
import { numbered } from 'resqlite/adapter'
import { failure } from './errors'

/** The parameters of a statement: by position, or by name. */
export type Params = SqlValue[] | Record<string, SqlValue>

/** The arguments of a method. If there are no `params`, the statement keeps those that it has. */
export interface Given<C> {
  readonly params: Params | undefined
  readonly callback: C | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: callers pass what they like
export type AnyCallback = (...args: any[]) => unknown

/** Separates the parameters of a call from its callback, as node-sqlite3 does. */
export function given<C extends AnyCallback>(args: readonly unknown[]): Given<C> {
  const last = args.at(-1)
  const callback = typeof last === 'function' ? (last as C) : undefined
  const values = callback === undefined ? args : args.slice(0, -1)
  return { params: values.length === 0 ? undefined : paramsOf(values), callback }
}

/** Converts a list. Undefined values are not bound, so that they are NULL. */
function listOf(values: readonly unknown[]): SqlValue[] {
  let { length } = values
  while (length > 0 && values[length - 1] === undefined) length--
  return values.slice(0, length).map(toSqlValue)
}

function paramsOf(values: readonly unknown[]): Params {
  const [first] = values
  if (Array.isArray(first)) return listOf(first)
  if (!isRecord(first)) return listOf(values)
  const given = Object.entries(first).filter(([, value]) => value !== undefined)
  const entries = given.map(([key, value]) => [key, toSqlValue(value)] as const)
  return numbered(entries) ?? Object.fromEntries(entries)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  if (value === null || typeof value !== 'object') return false
  return !(value instanceof Date || value instanceof RegExp || ArrayBuffer.isView(value))
}

/**
 * Converts a value. Dates are stored as milliseconds, and objects as the text that `String` makes of a plain object. NaN
 * becomes NULL, as in SQLite.
 */
function toSqlValue(value: unknown): SqlValue {
  switch (typeof value) {
    case 'number':
      return Number.isNaN(value) ? null : value
    case 'string':
    case 'bigint':
    case 'boolean':
      return value
    case 'object':
      break
    default:
      return null
  }
  if (value === null || value instanceof Uint8Array) return value
  if (value instanceof Date) return value.valueOf()
  if (value instanceof RegExp) return String(value)
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return '[object Object]'
}

/**
 * Fits parameters to a statement as SQLite does: a parameter that is not given is NULL, and a parameter that the statement
 * does not have is an error. `names`: a name for each parameter of the statement, with its prefix; null if the parameter has
 * no name.
 */
export function fit(params: Params, names: readonly (string | null)[]): SqlValue[] {
  const list = Array.isArray(params) ? params : byPosition(params, names)
  if (list.length > names.length) throw failure('RANGE', 'column index out of range')
  return names.map((_, place) => list[place] ?? null)
}

function byPosition(params: Record<string, SqlValue>, names: readonly (string | null)[]): SqlValue[] {
  const list: SqlValue[] = []
  for (const [key, value] of Object.entries(params)) {
    const place = names.findIndex((name) => name === key || name?.slice(1) === key)
    list[place === -1 ? names.length : place] = value
  }
  return list
}
