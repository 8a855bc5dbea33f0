/**
 * A stand-in for a language model: counts the triples of letters in a text, each in one of 64 dimensions, so that texts
 * which share words, or parts of words, are near each other. It gives 32-bit floats, as sqlite-vec takes them.
 */
export function embed(text: string): Uint8Array {
  const vector = new Float32Array(64)
  const letters = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
  for (let i = 0; i + 3 <= letters.length; i++) {
    const dimension = hash(letters.slice(i, i + 3)) % vector.length
    vector[dimension] = (vector[dimension] ?? 0) + 1
  }
  return new Uint8Array(vector.buffer)
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value >>> 0
}
