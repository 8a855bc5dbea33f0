import { isInteger, isReal as keepsDigits } from '../core/literals.js'
import { Real } from './records.js'

/**
 * Returns a number of JSON. The result is a bigint if a number cannot hold the integer exactly, and a {@link Real} if a whole
 * number is written with a point or an exponent. SQLite has no integers beyond 64 bits. They become REAL, as in SQL, or a text if a
 * REAL would lose digits.
 */
export function exactNumber(source: string): bigint | number | Real | string {
  const value = Number(source)
  const isReal = /[.eE]/.test(source)
  if (Number.isSafeInteger(value)) return isReal ? new Real(value) : value
  if (isReal) return value
  if (isInteger(source)) return BigInt(source)
  return keepsDigits(source) ? value : source
}
