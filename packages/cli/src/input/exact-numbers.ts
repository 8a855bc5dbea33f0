/** Integers that a number may not hold exactly; strings are matched, too, so that digits in them are not. */
const LONG_INTEGER = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g
const MAY_HAVE_ONE = /\d{16}/

/** Parses JSON. An integer that a number cannot hold exactly becomes a bigint. */
export function exactNumbers(json: string): unknown {
  if (!MAY_HAVE_ONE.test(json)) return JSON.parse(json)
  // For its errors: they name places in this text.
  JSON.parse(json)
  const mark = freeMark(json)
  const marked = json.replace(LONG_INTEGER, (token) => {
    return token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${mark}${token}"`
  })
  return JSON.parse(marked, (_, value) => {
    return typeof value === 'string' && value.startsWith(mark) ? bigintOf(value.slice(mark.length)) : value
  })
}

/** SQLite has no integers beyond 64 bits: they are REAL, as in SQL. */
function bigintOf(digits: string): bigint | number {
  const value = BigInt(digits)
  return BigInt.asIntN(64, value) === value ? value : Number(digits)
}

/** A text that no string of a JSON text contains, escaped or not. */
function freeMark(json: string): string {
  const plain = json.replace(/\\u([\da-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  let mark = 'n:'
  while (json.includes(mark) || plain.includes(mark)) mark = `n${mark}`
  return mark
}
