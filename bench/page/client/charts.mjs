// The three kinds of charts. Each says in `data-…` what it shows and how many points it must have.
import { wording } from '../../wording.mjs'
import { el, plural, rangeText, roundText } from './dom.mjs'

const { Plot, d3 } = globalThis

const subject = 'resqlite'
/** The space (px) for the longest of the names, and for the numbers, where there are `width` px in all. */
export function guttersIn(width, names) {
  const pen = document.createElement('canvas').getContext('2d')
  pen.font = `650 ${fontSize}px ${getComputedStyle(document.body).fontFamily}`
  const longest = d3.max(names, (name) => pen.measureText(name).width) ?? 0
  return { names: Math.min(Math.ceil(longest) + 12, Math.round(width * 0.5)), numbers: width < 480 ? 64 : 74 }
}
const fontSize = 12.5
/** The height (px) of a peer's line. */
const lineHeight = 23

const colour = (peer) => (peer === subject ? 'var(--own)' : 'var(--other)')

/** Plot's own style sheet is in the page's, once. */
function plot(label, options) {
  const svg = Plot.plot({ className: 'plot', ...options })
  svg.querySelector('style')?.remove()
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', label)
  return svg
}

const figure = (kind, benchmark, measure, points, ...children) =>
  el(
    'figure',
    {
      class: kind,
      'data-chart': kind,
      'data-benchmark': benchmark,
      'data-measure': measure,
      'data-points': points,
    },
    children,
  )

// --- peers beside each other ---------------------------------------------------------------------------------

/**
 * Bars from 0; where that would hide the small ones, points on a logarithmic scale, on which lengths mean nothing.
 * `room`: px from one end of the scale to the other.
 */
function scaleOf(points, kind, room) {
  const medians = points.map(({ median }) => median)
  const [least, most] = [d3.min(medians) ?? 0, d3.max(medians) ?? 0]
  const furthest = Math.max(most, ...points.map(({ high }) => Math.min(high, most * 1.6))) || 1
  if (least > 0 && most / least > 30) return logarithmic(points, least, furthest, room)
  const unit = kind === 'bytes' ? 1024 ** Math.floor(Math.log(Math.max(furthest, 1)) / Math.log(1024)) : 1
  const ticks = d3.ticks(0, furthest / unit, 3).map((tick) => tick * unit)
  return { type: 'linear', domain: [Math.min(0, least), furthest], ticks: thinned(ticks, room) }
}

function logarithmic(points, least, furthest, room) {
  const lowest = Math.min(least, ...points.map(({ low }) => Math.max(low, least / 3)))
  const [from, to] = [Math.floor(Math.log10(lowest)), Math.ceil(Math.log10(furthest))]
  const powers = d3.range(from, to + 1).map((power) => 10 ** power)
  return { type: 'log', domain: [10 ** from, 10 ** to], ticks: thinned(powers, room) }
}

/** Every second, third … tick, so that what is written below them does not touch. */
function thinned(ticks, room) {
  const step = Math.ceil(ticks.length / Math.max(room / 58, 2))
  return ticks.filter((_, index) => index % step === 0)
}

/** Peers as lines: bar or point for the median, a thin line from quartile to quartile, the number at the right. */
export function peersChart(
  { benchmark, peers },
  { measure, title, kind, better, points },
  { width, gutter, names },
) {
  const marginLeft = names ? gutter.names : 1
  const scale = scaleOf(points, kind, width - marginLeft - gutter.numbers)
  const write = wording[kind]
  const clamp = (value) => Math.min(Math.max(value, scale.domain[0]), scale.domain[1])
  const absent = peers.filter(({ name }) => !points.some(({ peer }) => peer === name))
  const told = ({ peer, median, low, high, values }) =>
    `${peer}: ${write(median)}${values.length > 1 ? `, quartiles ${write(low)} and ${write(high)}` : ''}, ${plural(values.length, 'round')}`
  const svg = plot(`${title}: ${points.map(told).join('; ') || 'nothing was measured'}`, {
    width,
    height: peers.length * lineHeight + 24,
    marginLeft,
    marginRight: gutter.numbers,
    marginTop: 2,
    marginBottom: 22,
    x: { type: scale.type, domain: scale.domain, axis: null },
    y: { type: 'band', domain: peers.map(({ name }) => name), axis: null, padding: 0.52 },
    marks: [
      Plot.gridX(scale.ticks, { stroke: 'var(--grid)', strokeOpacity: 1 }),
      Plot.axisX(scale.ticks, {
        tickSize: 0,
        tickPadding: 7,
        fill: 'var(--quiet)',
        tickFormat: roundText(wording[kind]),
        label: null,
      }),
      ...(scale.type === 'log' ? onLog(points, told, clamp) : onLinear(points, told, clamp)),
      ...numberTexts(points, write, gutter),
      Plot.text(absent, {
        ...atRight(gutter),
        y: 'name',
        text: ({ error }) => (error ? 'failed' : '–'),
        fill: ({ error }) => (error ? 'var(--bad)' : 'var(--quiet)'),
      }),
      ...(names ? nameTexts(peers, gutter) : []),
    ],
  })
  return figure('peers', benchmark, measure, points.length, caption(title, better, scale.type), svg)
}

const direction = { higher: 'higher is better', none: 'neither is better' }

const caption = (title, better, scale) =>
  el(
    'figcaption',
    {},
    el('span', { class: 'measure' }, title),
    ' ',
    el(
      'span',
      { class: 'scale' },
      [direction[better], scale === 'log' ? 'log scale' : 'linear'].filter(Boolean).join(', '),
    ),
  )

const whisker = (points, told, clamp) =>
  Plot.ruleY(
    points.filter(({ values }) => values.length > 1),
    {
      y: 'peer',
      x1: (point) => clamp(point.low),
      x2: (point) => clamp(point.high),
      stroke: 'var(--ink)',
      strokeWidth: 1.5,
      title: told,
      className: 'quartiles',
    },
  )

const onLinear = (points, told, clamp) => [
  Plot.ruleX([0], { stroke: 'var(--line)' }),
  Plot.barX(points, {
    y: 'peer',
    x1: 0,
    x2: 'median',
    fill: ({ peer }) => colour(peer),
    title: told,
    className: 'median',
  }),
  whisker(points, told, clamp),
]

const onLog = (points, told, clamp) => [
  Plot.ruleY(points, { y: 'peer', stroke: 'var(--grid)', className: 'guide' }),
  whisker(points, told, clamp),
  Plot.dot(points, {
    y: 'peer',
    x: 'median',
    r: 4.5,
    fill: ({ peer }) => colour(peer),
    stroke: 'var(--paper)',
    title: told,
    className: 'median',
  }),
]

const atRight = ({ numbers }) => ({
  frameAnchor: 'right',
  textAnchor: 'end',
  dx: numbers - 1,
  fontSize,
  fontVariant: 'tabular-nums',
})

const numberTexts = (points, write, gutter) =>
  [true, false].map((own) =>
    Plot.text(
      points.filter(({ peer }) => (peer === subject) === own),
      {
        ...atRight(gutter),
        y: 'peer',
        text: ({ median }) => write(median),
        fill: 'var(--ink)',
        fontWeight: own ? 650 : 400,
      },
    ),
  )

const nameTexts = (peers, gutter) =>
  [true, false].map((own) =>
    Plot.text(
      peers.filter(({ name }) => (name === subject) === own),
      {
        frameAnchor: 'left',
        textAnchor: 'start',
        dx: -gutter.names,
        fontSize,
        y: 'name',
        text: 'name',
        fill: own ? 'var(--own-text)' : 'var(--ink)',
        fontWeight: own ? 650 : 400,
      },
    ),
  )

// --- over runs -----------------------------------------------------------------------------------------------

/** resqlite's medians over the stored runs, from 0, with the quartiles as a band. */
export function historyChart(benchmark, { measure, kind, history }, { width, height = 38, unseen }) {
  const write = wording[kind]
  const [first, last] = [history[0], history.at(-1)]
  const most = d3.max(history, ({ median }) => median) || 1
  const place = (_, index) => index
  const told = ({ date, commit, median }) => `${date.slice(0, 10)} ${commit}: ${write(median)}`
  const svg = plot(`resqlite over ${history.length} runs: ${history.map(told).join('; ')}`, {
    width,
    height,
    margin: 5,
    x: { axis: null, domain: [0, history.length - 1] },
    y: {
      axis: null,
      domain: [
        Math.min(
          0,
          d3.min(history, ({ median }) => median),
        ),
        most * 1.15,
      ],
    },
    marks: [
      Plot.areaY(history, {
        x: place,
        y1: 'low',
        y2: (point) => Math.min(point.high, most * 1.15),
        fill: 'var(--own)',
        fillOpacity: 0.16,
      }),
      Plot.lineY(history, { x: place, y: 'median', stroke: 'var(--own)', strokeWidth: 1.5 }),
      Plot.dot(history, {
        x: place,
        y: 'median',
        r: (_, index) => (index === history.length - 1 ? 3.2 : 1.8),
        fill: 'var(--own)',
        title: told,
        className: 'median',
      }),
    ],
  })
  const text = `${history.length} runs: ${write(first.median)} → ${write(last.median)}`
  return figure(
    'history',
    benchmark,
    measure,
    history.length,
    el('figcaption', { class: unseen && 'unseen' }, text),
    svg,
  )
}

// --- one figure ----------------------------------------------------------------------------------------------

/** Every value as a point, the quartiles as a line, the target (when there is one) as a line across. */
export function rangeChart(benchmark, { measure, title, kind, median, low, high, values = [median] }, bound) {
  const write = wording[kind]
  const all = [...values, low, high, ...(bound === undefined ? [] : [bound])]
  const [least, most] = d3.extent(all)
  const pad = (most - least) * 0.06 || Math.abs(most) * 0.1 || 1
  const reached = bound === undefined ? '' : `, target ${write(bound)}`
  const middle = () => 0
  const several = values.length > 1
  const svg = plot(`${title}: ${write(median)}, quartiles ${rangeText(write, { low, high }, 2)}${reached}`, {
    width: 150,
    height: 20,
    margin: 0,
    x: { axis: null, domain: [least - pad, most + pad] },
    y: { axis: null, domain: [-1, 1] },
    marks: [
      Plot.ruleY([0], { stroke: 'var(--line)' }),
      Plot.ruleY([[low, high]], {
        y: middle,
        x1: ([from]) => from,
        x2: ([, to]) => to,
        stroke: 'var(--own)',
        strokeWidth: 6,
        strokeOpacity: 0.3,
        className: 'quartiles',
      }),
      Plot.dot(values, {
        x: (value) => value,
        y: middle,
        r: several ? 2 : 3.5,
        fill: 'var(--own)',
        fillOpacity: several ? 0.7 : 1,
        title: write,
        className: 'value',
      }),
      ...(several ? [line(median, 'median', write, { stroke: 'var(--ink)', inset: 3 })] : []),
      ...(bound === undefined
        ? []
        : [line(bound, 'target', write, { stroke: 'var(--target)', strokeDasharray: '3 2' })]),
    ],
  })
  return figure('range', benchmark, measure, values.length, svg)
}

const line = (at, name, write, options) =>
  Plot.ruleX([at], {
    strokeWidth: 2,
    title: (value) => `${name} ${write(value)}`,
    className: name,
    ...options,
  })
