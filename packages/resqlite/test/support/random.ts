/** Reproducible random choices; a failed test is repeated with `RESQLITE_SEED=<seed>`. */
export function random(seed = Number(process.env.RESQLITE_SEED ?? Math.floor(Math.random() * 2 ** 31))) {
  let state = seed >>> 0
  /** mulberry32 */
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let z = state
    z = Math.imul(z ^ (z >>> 15), z | 1)
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61)
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number): number => Math.floor(next() * below)
  const pick = <T>(from: readonly T[]): T => from[int(from.length)] as T
  return { seed, int, pick }
}
