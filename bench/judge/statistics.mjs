// What is known about a list of measured numbers. Spreads are fractions of the median: 0.1 is 10 %.
import { random } from '../random.mjs'

const resamples = 2000
const seed = 0x5eed
/** Below this many values an interval from resampling says nothing; the range stands in for it. */
const leastForInterval = 5

const ascending = (values) => Float64Array.from(values).sort()

const middle = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2

export const median = (values) => middle(ascending(values))

/** Median distance to the median, as a fraction of the median (not scaled to a standard deviation). */
export function deviation(values) {
  const center = median(values)
  return relative(median(Float64Array.from(values, (value) => Math.abs(value - center))), center)
}

/** Standard deviation of a sample ÷ mean. */
export function variation(values) {
  if (values.length < 2) return 0
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return relative(Math.sqrt(squares / (values.length - 1)), mean)
}

/**
 * The 95 % bootstrap interval of the median, `[low, high]`: the same for the same values, always. All lists of one length
 * are resampled in the same way, because the median of a resample depends only on which ranks were drawn.
 */
export function medianInterval(values) {
  const sorted = ascending(values)
  const ranks = drawnRanks(sorted.length)
  const medians = Float64Array.from(ranks, ([low, high]) => (sorted[low] + sorted[high]) / 2).sort()
  return [medians[Math.floor(resamples * 0.025)], medians[Math.ceil(resamples * 0.975) - 1]]
}

const ranksOfLength = new Map()

/** For each resample of `length` values: the ranks of the two (or twice the one) in its middle. */
function drawnRanks(length) {
  const known = ranksOfLength.get(length)
  if (known) return known
  const below = random(seed)
  const draw = () => {
    const ranks = Uint32Array.from({ length }, () => below(length)).sort()
    return [ranks[(length - 1) >> 1], ranks[length >> 1]]
  }
  const drawn = Array.from({ length: resamples }, draw)
  ranksOfLength.set(length, drawn)
  return drawn
}

/**
 * The smallest change that these values could show (MDE_ci): half the width of the interval of the median ÷ the median;
 * with fewer than five values their range ÷ the median.
 */
export function detectable(values) {
  if (values.length < leastForInterval)
    return relative(Math.max(...values) - Math.min(...values), median(values))
  const [low, high] = medianInterval(values)
  return relative((high - low) / 2, median(values))
}

/** `{ n, median, mad, mde, stability }`; stability: stable (MAD ≤ 3 %), moderate (≤ 8 %) or noisy. */
export function describe(values) {
  const mad = deviation(values)
  return {
    n: values.length,
    median: median(values),
    mad,
    mde: detectable(values),
    stability: mad <= 0.03 ? 'stable' : mad <= 0.08 ? 'moderate' : 'noisy',
  }
}

/** A spread around zero is either none at all or beyond any measure. */
function relative(spread, center) {
  if (spread === 0) return 0
  return center === 0 ? Number.POSITIVE_INFINITY : spread / Math.abs(center)
}
