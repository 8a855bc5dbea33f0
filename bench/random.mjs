/**
 * Marsaglia's xorshift32 (shifts 13, 17, 5): `x ^= x << 13; x ^= x >>> 17; x ^= x << 5` on 32 bits, the seed being the
 * first state, which is not given out itself. Returns a function whose value is an integer from 0 to `below` − 1:
 * the state ÷ 2³² × `below`, rounded down.
 */
export function random(seed) {
  let x = seed | 0
  if (x === 0) throw new Error('xorshift stays at 0')
  return (below) => {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    return Math.floor(((x >>> 0) / 2 ** 32) * below)
  }
}
