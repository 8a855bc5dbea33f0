// What changed from each stored release to the next.
import { wording } from '../../wording.mjs'
import { dataTable, el, plural, section } from './dom.mjs'

export const releaseSection = (releases) =>
  section(
    'releases',
    'From release to release',
    el(
      'p',
      { class: 'note' },
      'resqlite in every two neighbouring releases that are stored, judged as by --compare. The runs are hours or days apart, ',
      'so the machine has changed, too: times and rates are those at the pace of the earlier run, by the times of an unchanged peer, ',
      'and the noise is how far these still differ.',
    ),
    releases.length > 0 ? releases.map(comparison) : el('p', {}, 'Fewer than two are stored.'),
  )

function comparison({ before, after, wins, regressions, neutral, differences, pace, control, worse }) {
  return el(
    'div',
    { class: 'release', 'data-release': `${before.commit} ${after.commit}` },
    el('h3', {}, `${named(before)} → ${named(after)}`),
    el(
      'p',
      {},
      `${plural(wins, 'win')}, ${plural(regressions, 'regression')}, ${neutral} neutral; ${paceOf(pace)}${noiseOf(control)}.`,
    ),
    differences.map((difference) => el('p', { class: 'failure' }, `Not the same in both: ${difference}.`)),
    worse.length > 0 && regressionsOf(before, after, worse),
  )
}

const named = ({ commit, date }) => `${commit} (${date.slice(0, 10)})`

const paceOf = (pace) => (pace === 1 ? '' : `pace ${pace.toFixed(2)}, `)

const noiseOf = (control) =>
  control
    ? `noise ${fraction(control.median)} (median of ${control.count} times of ${control.peer})`
    : 'noise unknown, because no unchanged peer is in both'

function regressionsOf(before, after, worse) {
  const head = ['benchmark', 'measure', 'before|', 'after|', 'Δ|', 'counts beyond|']
  const rows = worse.map(({ benchmark, measureTitle, kind, before, after, change, threshold }) => [
    benchmark,
    measureTitle,
    wording[kind](before),
    wording[kind](after),
    change === null ? '∞' : `${change > 0 ? '+' : ''}${fraction(change)}`,
    fraction(threshold),
  ])
  return el(
    'details',
    {},
    el('summary', {}, plural(worse.length, 'regression')),
    dataTable(`Regressions from ${before.commit} to ${after.commit}`, head, rows),
  )
}

const fraction = (value) => `${(100 * value).toFixed(1)}\u00a0%`
