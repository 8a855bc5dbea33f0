// Draws the charts of a document from stored runs of the benchmark: `<!-- chart: select-1k/mixed, insert-64/items -->` compares
// these workloads of the run that the comment `<!-- figures: … -->` above it names.

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { axisY, dot, plot, ruleX, ruleY } from '@observablehq/plot'
import { JSDOM } from 'jsdom'
import { ratios } from '../bench/ratios.mjs'
import { summary } from '../bench/summary.mjs'
import { root } from '../scripts/lib/paths.mjs'

const comment = /^<!-- (figures|chart): (.+) -->$/
const peer = 'better-sqlite3'
const measures = { wall: 'wall time', main: 'main-thread time' }

/** A plugin of markdown-it that puts charts in the place of the comments that ask for them. */
export function drawCharts(markdown) {
  markdown.core.ruler.push('draw-charts', ({ tokens }) => {
    let run
    for (const token of tokens.filter(({ type }) => type === 'html_block')) {
      const [, kind, given] = comment.exec(token.content.trim()) ?? []
      if (kind === 'figures') run = runOf(given.split(', ')[0])
      if (kind === 'chart') token.content = chart(run, given.split(', '))
    }
  })
}

function runOf(file) {
  return file.endsWith('.json') ? JSON.parse(readFileSync(resolve(root, file), 'utf8')) : undefined
}

function chart(run, workloads) {
  if (run === undefined) throw new Error(`the chart of ${workloads} stands below no run`)
  const points = workloads.flatMap((key) => pointsOf(run, key))
  const { document } = new JSDOM('').window
  const figure = plot({
    document,
    width: 680,
    marginLeft: 230,
    marginBottom: 50,
    height: 70 + 36 * workloads.length,
    style: { fontSize: '12px' },
    x: { type: 'log', label: `${peer} ÷ resqlite →`, grid: true, tickFormat: (value) => `${value}×` },
    y: { label: null, domain: points.map(({ title }) => title) },
    color: {
      domain: Object.values(measures),
      range: ['var(--chart-wall)', 'var(--chart-main)'],
      legend: true,
    },
    marks: [
      // Long titles get a second line.
      axisY({ label: null, lineWidth: 17, tickSize: 0 }),
      ruleX([1], { stroke: 'currentColor' }),
      ruleY(points, { y: 'title', x1: 'low', x2: 'high', stroke: 'measure', strokeWidth: 2 }),
      dot(points, { y: 'title', x: 'median', fill: 'measure', r: 4 }),
    ],
  })
  // The page's own style sheet says the same, and a style in the text would be a template of Vue.
  for (const style of figure.querySelectorAll('style')) style.remove()
  const told = `How many times as long ${peer} takes: medians over rounds, and quartiles as lines. Right of 1×, resqlite is ahead.`
  return `<div class="chart" v-pre>${figure.outerHTML.replaceAll('\n', '')}<p>${told}</p></div>`
}

/** The ratio of each measure, for `id/shape`. */
function pointsOf(run, key) {
  const [id, shape] = key.split('/')
  const result = run.results.find((result) => result.id === id && (!shape || result.shape === shape))
  if (result === undefined) throw new Error(`${run.commit} has no workload ${key}`)
  return Object.entries(measures).flatMap(([name, measure]) => {
    const values = ratios(result, [peer], 'resqlite', name)
    return values === undefined ? [] : [{ title: result.title, measure, ...summary(values) }]
  })
}
