// The two sections that judge: targets, and where a peer is better.
import { factor, wording } from '../../wording.mjs'
import { anchorOf } from './benchmark.mjs'
import { rangeChart } from './charts.mjs'
import { dataTable, el, plural, rangeText, roundText, section } from './dom.mjs'
import { liveAnchorOf, verdict } from './live.mjs'

// --- targets -------------------------------------------------------------------------------------------------

const short = { wall: 'wall time', main: 'main-thread time' }

export function targetSection(targets) {
  const head = [
    'workload',
    'figure',
    'median|',
    'quartiles|',
    'median and bound',
    'must be|',
    'verdict',
    'aim|',
    'verdict',
  ]
  const rows = targets.map((target) => {
    const { benchmark, measure, against, kind, median, bound, sign, met, aim, aimMet } = target
    const write = wording[kind]
    const title = short[measure] ?? measure
    return [
      el('a', { href: `#${(against ? anchorOf : liveAnchorOf)(benchmark)}` }, benchmark),
      against ? `${title} vs. ${against}` : title,
      el('strong', {}, write(median)),
      rangeText(write, target, target.low === target.high ? 1 : 2),
      rangeChart(benchmark, { ...target, title }, bound),
      `${sign} ${roundText(write)(bound)}`,
      verdict(met),
      aim === undefined ? '–' : `${sign} ${roundText(write)(aim)}`,
      aimMet ? verdict(aimMet) : '',
    ]
  })
  return section(
    'targets',
    'Targets',
    el(
      'p',
      { class: 'note' },
      'What resqlite promises (“must be”) and what it wishes for (“aim”). “vs.” means a ratio taken round by round: above 1 × ',
      'resqlite is better. Met: the worse quartile reaches the bound. Unclear: the bound lies between the quartiles.',
    ),
    targets.length > 0
      ? dataTable('Targets', head, rows, { class: 'targets' })
      : el('p', {}, 'This run measured nothing that has a target.'),
  )
}

// --- what we lose --------------------------------------------------------------------------------------------

export function lossSection(losses) {
  const missing = losses.filter((loss) => loss.missing)
  const behind = losses.filter((loss) => !loss.missing)
  return section(
    'losses',
    'What we lose',
    el(
      'p',
      { class: 'note' },
      'Every benchmark and measure in which the median of at least one peer is better than resqlite’s, the greatest factor ',
      'first. Nothing is left out for being small or uncertain; where the ranges between the quartiles overlap, another run may turn out the other way.',
    ),
    missing.map(missingLine),
    behind.length > 0 ? [filterOf(behind), lossTable(behind)] : el('p', {}, 'In no measure of this run.'),
  )
}

const missingLine = ({ benchmark, missing, peers }) =>
  el(
    'p',
    { class: 'failure', 'data-missing': benchmark },
    el('a', { href: `#${anchorOf(benchmark)}` }, benchmark),
    `: resqlite ${missing === 'cannot' ? 'cannot do it' : missing.split('\n')[0]}. It can be done by ${peers.join(', ')}.`,
  )

function lossTable(behind) {
  const head = [
    'benchmark',
    'factor|',
    'measure',
    'better',
    'its median|',
    'resqlite|',
    'quartiles',
    'better, too',
  ]
  const rows = behind.map(({ benchmark, measureTitle, kind, ours, peers: [best, ...others] }) => [
    el('a', { href: `#${anchorOf(benchmark)}` }, benchmark),
    el('strong', {}, factorText(best)),
    measureTitle,
    best.peer,
    wording[kind](best.median),
    wording[kind](ours.median),
    best.overlap ? el('em', {}, 'overlap') : 'apart',
    others.map((other) => `${other.peer} (${factorText(other)})`).join(', ') || '–',
  ])
  const table = dataTable('What we lose', head, rows, { class: 'losses' })
  const lines = table.querySelectorAll('tbody tr')
  behind.forEach(({ benchmark, measure }, index) => {
    lines[index].dataset.loss = benchmark
    lines[index].dataset.measure = measure
  })
  return table
}

const factorText = (peer) => (peer.factor === null ? '∞' : `${factor(peer.factor)}\u00a0×`)

/** Buttons that leave only the lines of one measure. */
function filterOf(behind) {
  const byMeasure = Map.groupBy(behind, ({ measureTitle }) => measureTitle)
  const choices = [
    ['all', 'All', behind.length],
    ...[...byMeasure].map(([title, { length }]) => [title, title, length]),
  ]
  const buttons = choices.map(([value, text, count]) =>
    el(
      'label',
      {},
      el('input', { type: 'radio', name: 'measure', value, checked: value === 'all' }),
      `${text} `,
      el('span', { class: 'count' }, String(count)),
    ),
  )
  const filter = el(
    'fieldset',
    { class: 'filter' },
    el('legend', { class: 'unseen' }, `Measure (${plural(behind.length, 'line')})`),
    buttons,
  )
  filter.addEventListener('change', ({ target: { value } }) => {
    const lines = filter.parentElement.querySelectorAll('tr[data-loss]')
    behind.forEach(({ measureTitle }, index) => {
      lines[index].hidden = value !== 'all' && value !== measureTitle
    })
  })
  return filter
}
