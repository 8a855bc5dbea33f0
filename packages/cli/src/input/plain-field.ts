import type { Utf8 } from 'resqlite'
import { BLOB, isInteger, NUMBER } from '../core/literals.js'
import { Real, type Value } from './records.js'

const X = 120
/** The bit that makes a capital letter of ASCII small. */
const SMALL = 32

/**
 * The value of a field of CSV that stands without quotes, for a column with a type: `x'0aff'` is a BLOB, and anything else text,
 * of which the column makes its type.
 */
export function typedValue(text: Utf8): Value {
  const { bytes, start, end } = text
  const mayBeBlob = end > start && ((bytes[start] as number) | SMALL) === X
  return mayBeBlob ? (blobOf(String(text)) ?? text) : text
}

/** The same for a column without a type: there, a number is a number. */
export function untypedValue(field: Utf8): Value {
  const text = String(field)
  return NUMBER.test(text) ? numberOf(text) : (blobOf(text) ?? text)
}

function blobOf(text: string): Buffer | undefined {
  const digits = BLOB.exec(text)?.[1]
  return digits === undefined ? undefined : Buffer.from(digits, 'hex')
}

/** Digits that do not fit into an INTEGER stay text, so that none is lost. */
function numberOf(text: string): Value {
  if (isInteger(text)) return BigInt(text)
  return /^-?\d+$/.test(text) ? text : new Real(Number(text))
}
