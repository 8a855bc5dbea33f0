import { Real } from './records.js'

/** Characters of the longest integer of 64 bits. */
const LONGEST_LENGTH = '-9223372036854775808'.length

/**
 * A number of JSON: a bigint where a number does not hold an integer exactly, and a {@link Real} where a whole one is written with a
 * point or an exponent. SQLite has no integers beyond 64 bits: they are REAL, as in SQL.
 */
export function exactNumber(source: string): bigint | number | Real {
  const value = Number(source)
  const isReal = /[.eE]/.test(source)
  if (Number.isSafeInteger(value)) return isReal ? new Real(value) : value
  if (isReal || source.length > LONGEST_LENGTH) return value
  const integer = BigInt(source)
  return BigInt.asIntN(64, integer) === integer ? integer : value
}
