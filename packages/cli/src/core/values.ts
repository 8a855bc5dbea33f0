import type { ColumnValue } from 'resqlite'

/** The options for databases whose values are shown or written: a bigint is an INTEGER, and a number a REAL. */
export const EXACT = { integers: 'bigint' } as const

/** The key of the object that stands for a BLOB in JSON. */
export const BLOB_KEY = '$blob'

/** The bytes of a BLOB that are shown in a table. */
const SHOWN_BYTES = 16

/** The characters that JSON allows in a string, but a terminal should not get. */
const UNSAFE = /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** A value as a person reads it. */
export function cellText(value: ColumnValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return blobText(value)
  return numberText(value)
}

/** A value as JSON: integers with all digits, REAL values with a point, BLOBs as `{"$blob":"…"}` in base64, infinities as 9e999. */
export function jsonText(value: ColumnValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return jsonString(value)
  if (value instanceof Uint8Array) return `{"${BLOB_KEY}":"${bytesOf(value).toString('base64')}"}`
  return numberText(value)
}

/** A string as JSON, without any control character. */
export function jsonString(text: string): string {
  return safeJson(JSON.stringify(text))
}

/** JSON without any control character: what JSON.stringify leaves of them stands in strings only. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A number as SQL and JSON write it: one that is REAL has a point or an exponent. */
export function numberText(value: number | bigint): string {
  if (typeof value === 'bigint') return String(value)
  if (value === Number.POSITIVE_INFINITY) return '9e999'
  if (value === Number.NEGATIVE_INFINITY) return '-9e999'
  const text = Object.is(value, -0) ? '-0' : String(value)
  return /[.e]/.test(text) ? text : `${text}.0`
}

/** A BLOB as SQL writes it. */
export function blobLiteral(bytes: Uint8Array): string {
  return `x'${bytesOf(bytes).toString('hex')}'`
}

/** The same; of a long one the beginning and the size. */
function blobText(bytes: Uint8Array): string {
  if (bytes.length <= SHOWN_BYTES) return blobLiteral(bytes)
  return `x'${bytesOf(bytes.subarray(0, SHOWN_BYTES)).toString('hex')}…' (${bytes.length} bytes)`
}

function bytesOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}
