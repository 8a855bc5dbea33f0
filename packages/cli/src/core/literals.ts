/** A BLOB as SQL writes it; the group has its digits. */
export const BLOB = /^x'((?:[\da-f]{2})*)'$/i

/** A number as SQL and JSON write it: no zeros before it, no sign but minus. */
export const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** An integer as SQL and JSON write it. It has 64 bits with up to 18 digits; with 19, that depends. */
const INTEGER = /^(?:0|-?[1-9]\d{0,17})$/
const LONG_INTEGER = /^-?[1-9]\d{18}$/

/** Returns whether text is an INTEGER of SQLite of which no digit is lost: no leading zeros, no sign but minus, within 64 bits. */
export function isInteger(text: string): boolean {
  if (INTEGER.test(text)) return true
  return LONG_INTEGER.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text)
}

/** A number without an exponent; of up to 15 digits, a REAL keeps all. */
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Returns whether text is a number that is the same as a REAL of SQLite: no digit is lost. */
export function isReal(text: string): boolean {
  if (text.length <= 15 && DECIMAL.test(text)) return true
  return NUMBER.test(text) && significant(text) === significant(String(Number(text)))
}

/** The digits of a number, without the zeros around them. */
function significant(number: string): string {
  return number.replace(/e.*$|[-.]/gi, '').replace(/^0+|0+$/g, '')
}

/** Returns whether text must stand in quotes, because without them it is a number or a BLOB. */
export function looksLikeValue(text: string): boolean {
  return NUMBER.test(text) || BLOB.test(text)
}
