import { Real } from './records.js'

/** Numbers that JSON.parse may change; strings are matched, too, so that digits in them are not. */
const DELICATE = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const MAY_HAVE_ONE = /\d{16}|\d\.0|\d[eE][-+\d]/

/**
 * Parses JSON. An integer that a number cannot hold exactly becomes a bigint, and a whole number with a point or an exponent a
 * {@link Real}.
 */
export function exactNumbers(json: string): unknown {
  if (!MAY_HAVE_ONE.test(json)) return JSON.parse(json)
  // For its errors: they name places in this text.
  JSON.parse(json)
  const mark = freeMark(json)
  const marked = json.replace(DELICATE, (token) => {
    return token.startsWith('"') || !isDelicate(token) ? token : `"${mark}${token}"`
  })
  return JSON.parse(marked, (_, value) => {
    return typeof value === 'string' && value.startsWith(mark) ? exact(value.slice(mark.length)) : value
  })
}

function isDelicate(token: string): boolean {
  const isWritten = /[.eE]/.test(token)
  return isWritten ? Number.isSafeInteger(Number(token)) : !Number.isSafeInteger(Number(token))
}

/** SQLite has no integers beyond 64 bits: they are REAL, as in SQL. */
function exact(token: string): bigint | number | Real {
  if (/[.eE]/.test(token)) return new Real(Number(token))
  const value = BigInt(token)
  return BigInt.asIntN(64, value) === value ? value : Number(token)
}

/** A text that no string of a JSON text contains, escaped or not. */
function freeMark(json: string): string {
  const plain = json.replace(/\\u([\da-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  let mark = 'n:'
  while (json.includes(mark) || plain.includes(mark)) mark = `n${mark}`
  return mark
}
