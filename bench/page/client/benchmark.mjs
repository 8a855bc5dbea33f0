// A benchmark: its measures side by side, a line for each peer, and all its numbers.
import { rate, wording } from '../../wording.mjs'
import { historyChart, peersChart } from './charts.mjs'
import { dataTable, el, rangeText, slug } from './dom.mjs'

const gap = 28
const narrowest = 250

export const anchorOf = (benchmark) => `b-${slug(benchmark)}`

/** Returns the article and `draw(width, gutter)`, which makes its charts for that many px, of which the gutters are a part. */
export function benchmarkArticle(about) {
  const { benchmark, id, version, shape, title } = about
  const charts = el('div', { class: 'charts' })
  const article = el(
    'article',
    { id: anchorOf(benchmark), class: 'benchmark' },
    el('h3', {}, title),
    el('p', { class: 'about' }, el('code', {}, id), ` ${version} · ${shape}`),
    failures(about),
    charts,
    rawNumbers(about),
  )
  return { article, draw: (width, gutter) => drawCharts(charts, about, width, gutter) }
}

const failures = ({ peers }) =>
  peers
    .filter(({ error }) => error)
    .map(({ name, error }) =>
      el('p', { class: 'failure' }, el('strong', {}, `${name} failed: `), error.split('\n')[0]),
    )

/** As many beside each other as there is room for; the names of the peers stand before the first of each line. */
function drawCharts(charts, about, width, gutter) {
  const { measures } = about
  const room = Math.floor((width - gutter.names + gap) / (narrowest + gap))
  const columns = Math.max(1, Math.min(3, room))
  const each = Math.floor((width - gutter.names - gap * (columns - 1)) / columns)
  charts.style.gridTemplateColumns = [gutter.names + each, ...Array(columns - 1).fill(each)]
    .map((share) => `minmax(0, ${share}fr)`)
    .join(' ')
  charts.style.setProperty('--names', `${gutter.names}px`)
  charts.replaceChildren(
    ...measures.map((measure, index) => {
      const names = index % columns === 0
      const chart = peersChart(about, measure, { width: each + (names ? gutter.names : 0), gutter, names })
      const past =
        measure.history.length > 0 && historyChart(about.benchmark, measure, { width: each - gutter.numbers })
      return el('div', { class: names ? 'measured named' : 'measured' }, chart, past)
    }),
  )
}

function rawNumbers(about) {
  const { benchmark, peers, measures } = about
  const rows = peers.flatMap((peer) =>
    peer.error || peer.cannot
      ? [[peer.name, peer.error ? `failed: ${peer.error}` : 'cannot do this', '–', '–', '–', '–', '–']]
      : measures.flatMap((measure) => rawRow(about, peer, measure)),
  )
  const head = ['peer', 'measure', 'median|', 'quartiles|', 'operations|', 'rounds|', 'every round']
  return el(
    'details',
    {},
    el('summary', {}, 'All numbers'),
    dataTable(`All numbers of ${benchmark}`, head, rows, { class: 'raw' }),
  )
}

function rawRow({ rate: calls }, { name, ops }, { measure, title, kind, points }) {
  const point = points.find(({ peer }) => peer === name)
  if (!point) return []
  const write = wording[kind]
  const perSecond = calls && measure === 'wall' && point.median > 0 ? ` (${rate(1000 / point.median)})` : ''
  return [
    [
      name,
      title,
      write(point.median) + perSecond,
      rangeText(write, point, point.values.length),
      ops?.toLocaleString('en'),
      String(point.values.length),
      point.values.map(write).join(', '),
    ],
  ]
}
