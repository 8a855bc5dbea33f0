// What changed from each stored release to the next, by the rules of `--compare`.
import { compareRuns } from '../judge/compare.mjs'

/** The label of runs that are stored for a release. */
const release = 'release'

/**
 * One entry for every two neighbours among the stored releases, newest first: `{ before, after, wins, regressions, neutral,
 * differences, pace, control, worse }`. `before` and `after`: date and commit. `worse`: the regressions, the greatest first.
 */
export function betweenReleases(runs) {
  const releases = runs.filter(({ label }) => label === release)
  return releases
    .slice(1)
    .map((after, index) => between(releases[index], after))
    .reverse()
}

function between(before, after) {
  const { rows, wins, regressions, neutral, differences, pace, control } = compareRuns(before, after)
  const worse = rows
    .filter(({ verdict }) => verdict === 'regression')
    .map(({ benchmark, measureTitle, kind, before, after, change, threshold }) => ({
      benchmark,
      measureTitle,
      kind,
      before: before.median,
      after: after.median,
      // JSON has no infinity, which is the change from nothing to something.
      change: Number.isFinite(change) ? change : null,
      threshold,
    }))
    .sort((a, b) => sizeOf(b) - sizeOf(a))
  const named = ({ commit, machine: { date } }) => ({ commit, date })
  return {
    before: named(before),
    after: named(after),
    wins,
    regressions,
    neutral,
    differences,
    pace,
    control,
    worse,
  }
}

const sizeOf = ({ change }) => (change === null ? Number.POSITIVE_INFINITY : Math.abs(change))
