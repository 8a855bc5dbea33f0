import { BLOB, isInteger, NUMBER } from '../core/literals.js'
import { Real, type Value } from './records.js'

/**
 * The value of a field of CSV that stands without quotes: `x'0aff'` is a BLOB, and anything else text, whose type is left to the
 * column. Where the column has none, a number is a number.
 */
export function plainValue(text: string, isUntyped: boolean): Value {
  const first = text.charCodeAt(0) | 32
  if (first === 120) {
    const digits = BLOB.exec(text)?.[1]
    if (digits !== undefined) return Buffer.from(digits, 'hex')
  }
  return isUntyped && NUMBER.test(text) ? numberOf(text) : text
}

/** Digits that do not fit into an INTEGER stay text, so that none is lost. */
function numberOf(text: string): Value {
  if (isInteger(text)) return BigInt(text)
  return /^-?\d+$/.test(text) ? text : new Real(Number(text))
}
