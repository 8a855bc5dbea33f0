import { generator } from '../../scripts/lib/random.mjs'

/** Of ten faults, so many freeze instead of killing. */
const FREEZES = 2

/** The faults and their times, which a seed repeats. `names`: the parts that can be broken. */
export function faultsOf({ seconds, kills, seed }, names) {
  const random = generator(seed)
  const slot = (seconds * 1_000) / Math.max(kills, 1)
  return Array.from({ length: kills }, (_, i) => ({
    at: Math.round(slot * (i + 0.1 + 0.3 * random())),
    name: names[Math.floor(random() * names.length)],
    how: random() * 10 < FREEZES ? 'freeze' : 'kill',
    lasts: Math.round(500 + 1_500 * random()),
  }))
}
