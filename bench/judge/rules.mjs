// When a difference between two series counts.
import { describe } from './statistics.mjs'

/** A change counts only beyond 10 %, three times the MAD and what the values can show at all; of both sides the worse counts. */
export const leastChange = 0.1
export const deviations = 3

/**
 * And it must be worth something in itself. `time` is per operation, an average over a whole sample, so the resolution of
 * the clock is no limit: the cheapest awaited call takes about 6 µs, and half a microsecond is the smallest part of that which
 * anybody could act on. It hides what changes in calls in flight by less, which take 0.8 µs each.
 * `delay` is measured with a timer of 1 ms. A rate has no floor: none fits both 500 and 500,000 calls per second.
 */
export const floors = {
  time: 0.0005, // ms
  delay: 0.5, // ms
  rate: 0,
  bytes: 500_000,
  count: 0.5,
  times: 0.02,
}

/**
 * Judges what became of `before` (numbers, one per round) in `after`:
 * `{ before, after, change, threshold, stability, verdict }`, the first two as from `describe`, `change` and `threshold`
 * as fractions of the median before. `verdict`: improvement, regression or neutral; shown when no direction is better.
 */
export function judge(before, after, { kind, better }) {
  const [was, is] = [describe(before), describe(after)]
  const threshold = Math.max(leastChange, deviations * Math.max(was.mad, is.mad), Math.max(was.mde, is.mde))
  const difference = is.median - was.median
  const change = changeOf(was.median, difference)
  const counts = Math.abs(change) > threshold && Math.abs(difference) > floorOf(kind)
  const stability = was.mad > is.mad ? was.stability : is.stability
  return {
    before: was,
    after: is,
    change,
    threshold,
    stability,
    verdict: verdictOf(counts, difference, better),
  }
}

export function floorOf(kind) {
  const floor = floors[kind]
  if (floor === undefined) throw new Error(`no kind of measure: ${kind}`)
  return floor
}

/** From nothing to something is a change without bounds. */
function changeOf(before, difference) {
  return difference === 0
    ? 0
    : before === 0
      ? difference * Number.POSITIVE_INFINITY
      : difference / Math.abs(before)
}

export function verdictOf(counts, difference, better) {
  if (better === 'none') return 'shown'
  if (better !== 'lower' && better !== 'higher') throw new Error(`no direction: ${better}`)
  if (!counts) return 'neutral'
  return difference < 0 === (better === 'lower') ? 'improvement' : 'regression'
}
