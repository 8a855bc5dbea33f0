import type { ColumnValue } from 'resqlite'

/** The options for databases whose values are shown or written: an INTEGER is read as a bigint, and a REAL as a number. */
export const EXACT = { integers: 'bigint' } as const

/** The key of the object that stands for a BLOB in JSON. */
export const BLOB_KEY = '$blob'

/** The number of bytes of a BLOB that are shown in a table. */
const SHOWN_BYTES = 16

/** Matches the characters that JSON allows in a string, but a terminal should not receive. */
const UNSAFE = /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** Returns a value as text for people. */
export function cellText(value: ColumnValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return blobText(value)
  return numberText(value)
}

/** Returns a value as JSON: integers with all digits, REAL values with a point, BLOBs as `{"$blob":"…"}` in base64, infinities as 9e999. */
export function jsonText(value: ColumnValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return jsonString(value)
  if (value instanceof Uint8Array) return `{"${BLOB_KEY}":"${bytesOf(value).toString('base64')}"}`
  return numberText(value)
}

/** Returns a string as JSON, without any control character. */
export function jsonString(text: string): string {
  return safeJson(JSON.stringify(text))
}

/** Returns JSON without any control character. Those that JSON.stringify leaves are only in strings. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns a number as it is written in SQL and JSON. A REAL has a point or an exponent. */
export function numberText(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  if (value === Number.POSITIVE_INFINITY) return '9e999'
  if (value === Number.NEGATIVE_INFINITY) return '-9e999'
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** Returns a BLOB as it is written in SQL. */
export function blobLiteral(bytes: Uint8Array): string {
  return `x'${bytesOf(bytes).toString('hex')}'`
}

/** Returns a BLOB as it is written in SQL, or, if it is long, its beginning and size. */
function blobText(bytes: Uint8Array): string {
  if (bytes.length <= SHOWN_BYTES) return blobLiteral(bytes)
  return `x'${bytesOf(bytes.subarray(0, SHOWN_BYTES)).toString('hex')}…' (${bytes.length} bytes)`
}

function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
