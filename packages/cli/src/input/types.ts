import { Utf8 } from 'resqlite'
import { isInteger, isReal, NUMBER } from '../core/literals.js'
import { isPlainNumber } from './plain-number.js'
import { Real, type Value } from './records.js'

/** The type of a column of a table that is created. */
export type ColumnType = 'INTEGER' | 'REAL' | 'TEXT'

/** Whether a column of a type keeps a value: SQLite would make 123 of the text 00123, and take digits from a long number. */
export function keeps(type: ColumnType, value: Value | undefined): boolean {
  if (type === 'TEXT') return true
  if (value instanceof Utf8) return isPlainNumber(value, type === 'REAL') || keeps(type, String(value))
  if (typeof value === 'string') return type === 'INTEGER' ? isInteger(value) : isReal(value)
  return typeof value !== 'bigint' || type === 'INTEGER' || BigInt(Number(value)) === value
}

/** Says why a column of a type does not keep a value. */
export function contradiction(type: ColumnType, value: Value | undefined): string {
  const text = String(value)
  const isLong = type === 'REAL' ? NUMBER.test(text) : /^-?[1-9]\d*$/.test(text)
  if (isLong) return `${text} has more digits than ${type} keeps`
  return `${JSON.stringify(text)} is not ${type === 'REAL' ? 'a number' : 'an integer'}`
}

/** The narrowest type that keeps all of these values as they are. */
export function guessedType(values: readonly (Value | undefined)[]): ColumnType {
  const given = values
    .filter((value) => value !== null && value !== undefined)
    .map((value) => (value instanceof Utf8 ? String(value) : value))
  if (given.length === 0) return 'TEXT'
  if (given.some((value) => value instanceof Uint8Array)) return 'TEXT'
  if (given.every(isWhole)) return 'INTEGER'
  return given.every((value) => isNumber(value) && keeps('REAL', value)) ? 'REAL' : 'TEXT'
}

function isWhole(value: Value): boolean {
  if (typeof value === 'string') return isInteger(value)
  return typeof value === 'bigint' || typeof value === 'boolean' || Number.isSafeInteger(value)
}

/** Texts are left to {@link keeps}. */
function isNumber(value: Value): boolean {
  return typeof value === 'string' || typeof value === 'number' || value instanceof Real || isWhole(value)
}
