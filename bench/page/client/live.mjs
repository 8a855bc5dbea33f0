// Live queries: resqlite alone, so a table of figures instead of peers beside each other.
import { wording } from '../../wording.mjs'
import { historyChart, rangeChart } from './charts.mjs'
import { dataTable, el, rangeText, roundText, slug } from './dom.mjs'

export const liveAnchorOf = (id) => `l-${slug(id)}`

export function liveArticle({ id, version, title, error, figures }, targets) {
  return el(
    'article',
    { id: liveAnchorOf(id), class: 'live' },
    el('h3', {}, title),
    el('p', { class: 'about' }, el('code', {}, id), ` ${version}`),
    error
      ? el('p', { class: 'failure' }, el('strong', {}, 'failed: '), error)
      : figureTable(id, title, figures, targets),
    error ? undefined : rawValues(id, figures),
  )
}

function figureTable(id, title, figures, targets) {
  const past = figures.some(({ history }) => history.length > 0)
  const head = [
    'figure',
    'median|',
    'values, target',
    'quartiles|',
    'target|',
    'verdict',
    ...(past ? ['over runs'] : []),
  ]
  const rows = figures.map((figure) => {
    const target = targets.find(({ benchmark, measure }) => benchmark === id && measure === figure.title)
    const write = wording[figure.kind]
    return [
      figure.title,
      el('strong', {}, write(figure.median)),
      rangeChart(id, figure, target?.bound),
      rangeText(write, figure, figure.values.length),
      target ? `${target.sign} ${roundText(write)(target.bound)}` : '–',
      target ? verdict(target.met) : '',
      ...(past
        ? [
            figure.history.length > 0
              ? historyChart(id, figure, { width: 130, height: 26, unseen: true })
              : '–',
          ]
        : []),
    ]
  })
  return dataTable(title, head, rows, { class: 'figures' })
}

function rawValues(id, figures) {
  const rows = figures.map(({ title, kind, values }) => [
    title,
    String(values.length),
    values.map(wording[kind]).join(', '),
  ])
  return el(
    'details',
    {},
    el('summary', {}, 'All numbers'),
    dataTable(`All numbers of ${id}`, ['figure', 'values|', 'every value'], rows, { class: 'raw' }),
  )
}

const verdicts = { yes: ['met', '✓'], no: ['missed', '✕'], unclear: ['unclear', '?'] }

/** A word and a sign, not only a colour. */
export function verdict(met) {
  const [word, sign] = verdicts[met]
  return el('span', { class: `verdict ${word}` }, el('span', { 'aria-hidden': 'true' }, `${sign} `), word)
}
