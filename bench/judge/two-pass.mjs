// What two passes of an A/B measurement say, the second of them with the order flipped.
//
// A pass is a list of blocks (one per process), each `{ baseline: [numbers], candidate: [numbers] }`, where numbers at the
// same place were measured right after each other. Only such pairs are compared: the machine changes its pace within
// seconds, and between two processes the compiler may decide differently.
import { deviations, floorOf, leastChange, verdictOf } from './rules.mjs'
import { deviation, median, medianInterval, variation } from './statistics.mjs'

/** A pass finds nothing smaller than this: two copies of one program differ by as much (memory layout, inlining). */
export const effectFloor = 0.03
/** With fewer pairs than this a pass finds nothing at all. */
export const fewestPairs = 5
/** Spread of one side that makes a pass worthless: this many times that of the other, and above 8 %. */
export const asymmetry = 4
export const asymmetricFrom = 0.08

/**
 * The verdict on one measure over both passes: `{ verdict, direction, change, passes }`.
 *
 * - `verdict`: reproduced, contaminated, drift-suspected, inconclusive or neutral (see README.md)
 * - `direction`: improvement or regression when reproduced, otherwise undefined
 * - `change`: the median of candidate ÷ baseline over all pairs, minus 1
 * - `interval`: its 95 % bootstrap interval
 * - `passes`: what `judgePass` found in each
 */
export function judgePasses(passes, { kind, better }) {
  const [first, second] = passes.map((blocks) => judgePass(blocks, kind))
  const ratios = passes.flatMap((blocks) => blocks.flatMap(ratiosOf))
  const change = median(ratios) - 1
  const verdict = overall(first, second)
  const direction = verdict === 'reproduced' ? verdictOf(true, change, better) : undefined
  return { verdict, direction, change, interval: changeInterval(ratios), passes: [first, second] }
}

function overall(first, second) {
  const found = [first, second].filter((pass) => pass.beyond)
  if (found.length > 0 && (first.contaminated || second.contaminated)) return 'contaminated'
  if (found.length === 2 && first.change > 0 === second.change > 0) return 'reproduced'
  if (found.length > 0) return 'drift-suspected'
  return Math.max(first.threshold, second.threshold) > leastChange ? 'inconclusive' : 'neutral'
}

/**
 * `{ change, interval, threshold, beyond, contaminated, variations, n }` of one pass. `change` is the median of the pairwise
 * ratios minus 1, `interval` its 95 % bootstrap interval; `beyond`: more than noise, and every process says so.
 */
export function judgePass(blocks, kind) {
  const ratios = blocks.flatMap(ratiosOf)
  const middle = median(ratios)
  const change = middle - 1
  const interval = changeInterval(ratios)
  const processes = blocks.map((block) => median(ratiosOf(block)))
  const noise = Math.max(
    uncertainty(ratios),
    uncertainty(processes),
    (interval[1] - interval[0]) / 2 / middle,
  )
  const threshold = ratios.length < fewestPairs ? Number.POSITIVE_INFINITY : Math.max(effectFloor, noise)
  const agreed = processes.every((process) => process > 1 === change > 0)
  const worth = Math.abs(change) * median(blocks.flatMap(({ baseline }) => baseline)) > floorOf(kind)
  const variations = ['baseline', 'candidate'].map((side) =>
    variation(withoutExtremes(blocks.flatMap((block) => block[side]))),
  )
  return {
    change,
    interval,
    threshold,
    beyond: Math.abs(change) > threshold && agreed && worth,
    contaminated: isContaminated(variations),
    variations,
    n: ratios.length,
  }
}

/** The 95 % bootstrap interval of the change. */
const changeInterval = (ratios) => medianInterval(ratios).map((ratio) => ratio - 1)

/** Three times what the MAD says about how sure the median is. */
const uncertainty = (ratios) => (deviations * deviation(ratios)) / Math.sqrt(ratios.length)

/** A single pause of the machine contaminates nothing: the median does not see it. So a twentieth at each end is left out. */
function withoutExtremes(values) {
  const cut = Math.floor(values.length / 20)
  return Float64Array.from(values)
    .sort()
    .slice(cut, values.length - cut)
}

const ratiosOf = ({ baseline, candidate }) => candidate.map((value, i) => ratio(value, baseline[i]))

/** Nothing ÷ nothing is no change. */
const ratio = (value, base) => (value === base ? 1 : value / base)

function isContaminated(variations) {
  const [low, high] = [Math.min(...variations), Math.max(...variations)]
  return high > asymmetricFrom && high >= asymmetry * low
}
