// Where a peer is better than resqlite: all of it.
import { summary } from '../summary.mjs'

const subject = 'resqlite'

/**
 * Every benchmark × measure in which a peer's median is better than resqlite's, by falling factor; before those the
 * benchmarks that resqlite cannot do, or failed at, while a peer has figures.
 *
 * `{ benchmark, title, measure, measureTitle, kind, better, ours, peers: [{ peer, median, low, high, factor, overlap }] }`, peers best first.
 * `factor`: how many times better the peer is, null when one of the two is 0. `overlap`: the ranges between the
 * quartiles do. Of a benchmark without figures of resqlite: `{ benchmark, title, missing, peers }`, `peers` being names.
 */
export function losses(run, all) {
  const behind = contests(all)
    .map(behindOf)
    .filter(({ peers }) => peers.length > 0)
    .sort((a, b) => factorOf(b) - factorOf(a))
  return [...run.results.flatMap(missingOf), ...behind]
}

/** In how many benchmarks resqlite leads, and in how many a peer does, by measure, where both have a figure. */
export function tallies(all) {
  const byMeasure = Map.groupBy(contests(all), ({ measure }) => measure)
  return Object.fromEntries(
    [...byMeasure].map(([measure, found]) => {
      const lost = found.filter((contest) => behindOf(contest).peers.length > 0).length
      return [measure, { leads: found.length - lost, behind: lost }]
    }),
  )
}

/** Benchmark × measure in which resqlite and at least one peer have a figure, and one direction is better. */
function contests(all) {
  const contested = all.filter(
    ({ group, better }) => group !== 'live' && (better === 'lower' || better === 'higher'),
  )
  return [...Map.groupBy(contested, ({ benchmark, measure }) => `${benchmark}/${measure}`).values()].flatMap(
    (found) => {
      const ours = found.find(({ peer }) => peer === subject)
      const others = found.filter(({ peer }) => peer !== subject)
      if (!ours || others.length === 0) return []
      return [{ ...ours, ours: summary(ours.values), others }]
    },
  )
}

function behindOf({ benchmark, title, measure, measureTitle, kind, better, ours, others }) {
  const peers = others
    .map(({ peer, values }) => ({ peer, ...summary(values) }))
    .filter(({ median }) => (better === 'lower' ? median < ours.median : median > ours.median))
    .map((theirs) => ({
      ...theirs,
      factor: timesBetter(better, ours, theirs),
      overlap: overlap(ours, theirs),
    }))
    .sort((a, b) => (better === 'lower' ? a.median - b.median : b.median - a.median))
  return { benchmark, title, measure, measureTitle, kind, better, ours, peers }
}

function timesBetter(better, ours, theirs) {
  const [more, less] = better === 'lower' ? [ours, theirs] : [theirs, ours]
  return less.median > 0 ? more.median / less.median : null
}

const factorOf = ({ peers: [{ factor }] }) => factor ?? Number.MAX_VALUE
const overlap = (a, b) => a.low <= b.high && b.low <= a.high

function missingOf({ id, shape, title, peers }) {
  const own = peers[subject]
  const able = Object.keys(peers).filter((name) => peers[name].samples)
  if (!own || own.samples || able.length === 0) return []
  const missing = own.error ? `failed: ${own.error}` : 'cannot'
  return [{ benchmark: `${id} · ${shape}`, title, missing, peers: able }]
}
