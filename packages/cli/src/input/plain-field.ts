import type { Utf8 } from 'resqlite'
import { BLOB, isInteger, NUMBER } from '../core/literals.js'
import { Real, type Value } from './records.js'

const X = 120
/** The bit that turns a capital letter of ASCII into a small one. */
const SMALL = 32

/**
 * Returns the value of an unquoted CSV field for a column with a type. `x'0aff'` is a BLOB, and anything else is text, which the
 * column converts to its type.
 */
export function typedValue(text: Utf8): Value {
  const { bytes, start, end } = text
  const mayBeBlob = end > start && ((bytes[start] as number) | SMALL) === X
  return mayBeBlob ? (blobOf(String(text)) ?? text) : text
}

/** Returns the value of an unquoted CSV field for a column without a type. There, a number stays a number. */
export function untypedValue(field: Utf8): Value {
  const text = String(field)
  return NUMBER.test(text) ? numberOf(text) : (blobOf(text) ?? text)
}

function blobOf(text: string): Buffer | undefined {
  const digits = BLOB.exec(text)?.[1]
  return digits === undefined ? undefined : Buffer.from(digits, 'hex')
}

/** Converts the text of a number. Digits that do not fit into an INTEGER stay text, so that none is lost. */
function numberOf(text: string): Value {
  if (isInteger(text)) return BigInt(text)
  return /^-?\d+$/.test(text) ? text : new Real(Number(text))
}
