import type { ColumnValue } from 'resqlite'

/** The bytes of a BLOB that are shown in a table. */
const SHOWN_BYTES = 16

/** What JSON allows in a string, and a terminal should not get. */
const UNSAFE = /[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

/** A value as a person reads it. */
export function cellText(value: ColumnValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return blobText(value)
  return numberText(value)
}

/** A value as JSON: 64-bit integers with all digits, BLOBs in base64, infinities as 9e999. */
export function jsonText(value: ColumnValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return jsonString(value)
  if (value instanceof Uint8Array) return `"${base64(value)}"`
  return numberText(value)
}

/** A string as JSON, without any control character. */
export function jsonString(text: string): string {
  return JSON.stringify(text).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A number as SQL and JSON write it. */
export function numberText(value: number | bigint): string {
  if (value === Number.POSITIVE_INFINITY) return '9e999'
  if (value === Number.NEGATIVE_INFINITY) return '-9e999'
  return String(value)
}

/** The bytes of a BLOB in base64. */
export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
}

/** A BLOB as SQL writes it; of a long one the beginning and the size. */
function blobText(bytes: Uint8Array): string {
  const shown = Buffer.from(bytes.subarray(0, SHOWN_BYTES)).toString('hex')
  return bytes.length <= SHOWN_BYTES ? `x'${shown}'` : `x'${shown}…' (${bytes.length} bytes)`
}
