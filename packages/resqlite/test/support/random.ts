const { RESQLITE_SEED, RESQLITE_DAY, RESQLITE_DICE } = process.env

const day = numberOf('RESQLITE_DAY', RESQLITE_DAY ?? String(Math.floor(Date.now() / 86_400_000)))
/** Other choices every day; a failed test is repeated with `RESQLITE_SEED=<seed>`, those of a day with `RESQLITE_DAY`. */
const usual = numberOf('RESQLITE_SEED', RESQLITE_SEED ?? String(day * 10_000))

function numberOf(variable: string, value: string): number {
  if (!/^\d+$/.test(value)) throw new Error(`${variable} is a number, not ${JSON.stringify(value)}`)
  return Number(value)
}

/** The number of throws of a test, of which `all` are made with `RESQLITE_DICE=all` and otherwise a fortieth. */
export function throws(all: number): number {
  return RESQLITE_DICE === 'all' ? all : Math.ceil(all / 40)
}

/** Reproducible random choices. */
export function random(seed = usual) {
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
