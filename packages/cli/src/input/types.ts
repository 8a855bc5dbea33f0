import { NUMBER } from '../core/literals.js'
import { Real, type Value } from './records.js'

/** The type of a column of a table that is created. */
export type ColumnType = 'INTEGER' | 'REAL' | 'TEXT'

/** An integer that stays as it is written: no zeros before it, no sign but minus, and within 64 bits. */
const INTEGER = /^(?:0|-?[1-9]\d{0,17})$/

/** Whether a column of a type keeps a value: SQLite would make 123 of the text 00123. */
export function keeps(type: ColumnType, value: Value | undefined): boolean {
  if (type === 'TEXT' || typeof value !== 'string') return true
  return (type === 'INTEGER' ? INTEGER : NUMBER).test(value)
}

/** The narrowest type that keeps all of these values as they are. */
export function guessedType(values: readonly (Value | undefined)[]): ColumnType {
  const given = values.filter((value) => value !== null && value !== undefined)
  if (given.length === 0) return 'TEXT'
  if (given.some((value) => value instanceof Uint8Array)) return 'TEXT'
  if (given.every(isInteger)) return 'INTEGER'
  return given.every(isNumber) ? 'REAL' : 'TEXT'
}

function isInteger(value: Value): boolean {
  if (typeof value === 'string') return INTEGER.test(value)
  return typeof value === 'bigint' || typeof value === 'boolean' || Number.isSafeInteger(value)
}

function isNumber(value: Value): boolean {
  return (
    isInteger(value) ||
    (typeof value === 'string' ? NUMBER.test(value) : typeof value === 'number' || value instanceof Real)
  )
}
