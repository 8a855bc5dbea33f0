/** The least and the greatest byte that may follow another within a character. */
const LEAST = 0x80
const GREATEST = 0xbf

/**
 * Returns whether bytes are UTF-8: characters in their shortest form, and no surrogates. For a short text, this is quicker than a
 * call of `isUtf8`.
 */
export function isShortUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; ) {
    const byte = bytes[at] as number
    if (byte < LEAST) {
      at++
      continue
    }
    const next = at + lengthOf(byte)
    if (next === at || next > end || !isSecond(byte, bytes[at + 1] as number)) return false
    for (at += 2; at < next; at++) if (!isWithin(bytes[at] as number, LEAST, GREATEST)) return false
  }
  return true
}

/** Returns the length in bytes of a character that begins with `first`, a byte beyond ASCII; 0 if no character does. */
function lengthOf(first: number): number {
  if (isWithin(first, 0xc2, 0xdf)) return 2
  if (isWithin(first, 0xe0, 0xef)) return 3
  return isWithin(first, 0xf0, 0xf4) ? 4 : 0
}

/**
 * Returns whether a second byte fits the first. Some second bytes would make a longer form of another character, a surrogate,
 * or a character beyond U+10FFFF.
 */
function isSecond(first: number, second: number): boolean {
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : LEAST
  const greatest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : GREATEST
  return isWithin(second, least, greatest)
}

function isWithin(byte: number, least: number, greatest: number): boolean {
  return byte >= least && byte <= greatest
}
