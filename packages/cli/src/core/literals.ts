/** Matches a BLOB as it is written in SQL. The group contains its digits. */
export const BLOB = /^x'((?:[\da-f]{2})*)'$/i

/** Matches a number as it is written in SQL and JSON: no leading zeros, no sign but minus. */
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Matches an integer as it is written in SQL and JSON. With up to 18 digits it fits into 64 bits; with 19 digits, this depends on
 * the digits.
 */
const INTEGER = /^(?:0|-?[1-9]\d{0,17})$/
const LONG_INTEGER = /^-?[1-9]\d{18}$/

/** Returns whether text is an INTEGER of SQLite that loses no digit: no leading zeros, no sign but minus, within 64 bits. */
export function isInteger(text: string): boolean {
  if (INTEGER.test(text)) return true
  return LONG_INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

/** Matches a number without an exponent. A REAL keeps all digits if there are at most 15. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Returns whether text is a number that loses no digit as a REAL of SQLite. */
export function isReal(text: string): boolean {
  if (text.length <= 15 && DECIMAL.test(text)) return true
  return NUMBER.test(text) && significant(text) === significant(String(Number(text)))
}

/** Returns the digits of a number, without leading and trailing zeros. */
function significant(number: string): string {
  return number.replace(/e.*$|[-.]/gi, '').replace(/^0+|0+$/g, '')
}

/** Returns whether text must be quoted, because without quotes it is a number or a BLOB. */
export function looksLikeValue(text: string): boolean {
  return NUMBER.test(text) || BLOB.test(text)
}
