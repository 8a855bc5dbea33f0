import type { Utf8 } from 'resqlite'

const MINUS = 45
const POINT = 46
const ZERO = 48
const NINE = 57

/** The largest number of characters (digits, sign and point) that a REAL and an INTEGER keep in any case. */
const KEPT = 15

/**
 * Returns whether a text is a number that is kept as it is, as most are: short, without an exponent or leading zeros. Makes no
 * string of the text. False does not mean that the text is not a number.
 */
export function isPlainNumber({ bytes, start, end }: Utf8, mayHavePoint: boolean): boolean {
  if (end - start > KEPT) return false
  const first = bytes[start] === MINUS ? start + 1 : start
  let point = -1
  for (let at = first; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === POINT && mayHavePoint && point === -1) point = at
    else if (byte < ZERO || byte > NINE) return false
  }
  if (point === end - 1) return false
  const digits = (point === -1 ? end : point) - first
  return bytes[first] === ZERO ? digits === 1 && point !== -1 : digits > 0
}
