/** Numbers from 0 to 1 that a seed repeats (mulberry32). */
export function generator(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Whole numbers from 0 up to a bound that a seed repeats. */
export function numbers(seed) {
  const next = generator(seed)
  return (bound) => Math.floor(next() * bound)
}

/** The number that a variable has, if it is set. */
function number(variable) {
  const value = process.env[variable]
  if (value !== undefined && !/^\d+$/.test(value))
    throw new Error(`${variable} is a number, not ${JSON.stringify(value)}`)
  return value === undefined ? undefined : Number(value)
}

/** Days since 1970: the dice of a test are others every day. `RESQLITE_DAY` repeats those of another day. */
export function day() {
  return number('RESQLITE_DAY') ?? Math.floor(Date.now() / 86_400_000)
}

/** The number of throws of a test, of which `all` are made with `RESQLITE_DICE=all` and otherwise a fortieth. */
export function throws(all) {
  return process.env.RESQLITE_DICE === 'all' ? all : Math.ceil(all / 40)
}

/** A seed for each throw of a test; or `RESQLITE_SEED` alone. */
export function seeds(all) {
  const seed = number('RESQLITE_SEED')
  if (seed !== undefined) return [seed]
  return Array.from({ length: throws(all) }, (_, i) => day() * 10_000 + i)
}
