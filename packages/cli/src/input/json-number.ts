import { isInteger, isReal as keepsDigits } from '../core/literals.js'
import { Real } from './records.js'

/**
 * A number of JSON: a bigint where a number does not hold an integer exactly, and a {@link Real} where a whole one is written with a
 * point or an exponent. SQLite has no integers beyond 64 bits: they are REAL, as in SQL, or a text where a REAL would lose digits.
 */
export function exactNumber(source: string): bigint | number | Real | string {
  const value = Number(source)
  const isReal = /[.eE]/.test(source)
  if (Number.isSafeInteger(value)) return isReal ? new Real(value) : value
  if (isReal) return value
  if (isInteger(source)) return BigInt(source)
  return keepsDigits(source) ? value : source
}
