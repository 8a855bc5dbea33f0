// The outcome of an A/B → Markdown.

import { median } from '../judge/statistics.mjs'
import { percent, signed } from '../judge/text.mjs'
import { table, wording } from '../wording.mjs'

export function outcomeText({ rows, control, failed, measured }, builds) {
  return [
    `# ${builds.candidate.name} against ${builds.baseline.name}`,
    '',
    outcomeTable(rows, measured),
    ...(control
      ? ['\n## Control: the baseline against a copy of itself\n', outcomeTable(control, measured)]
      : []),
    ...failed.map(({ benchmark, error }) => `\n${benchmark} **failed**: ${error.split('\n', 1)[0]}`),
    '',
    ...(control ? [`Control: ${verdictLine(control)}; median |Δ| ${percent(moved(control))}.`] : []),
    verdictLine(rows),
  ].join('\n')
}

const moved = (rows) => median(rows.map(({ change }) => Math.abs(change)))

function outcomeTable(rows, measured) {
  const head = [
    'benchmark',
    'measure',
    'baseline',
    'Δ',
    '95 % interval',
    'pass 1',
    'pass 2, flipped',
    'verdict',
  ]
  return table(
    head,
    rows.map((row, i) => [
      row.benchmark,
      row.measureTitle ?? row.measure,
      wording[row.kind](median(measured[i].passes.flat().flatMap(({ baseline }) => baseline))),
      signed(row.change),
      row.interval.map(signed).join(' … '),
      ...row.passes.map(passText),
      row.direction ? `**${row.verdict} ${row.direction}**` : row.verdict,
    ]),
  )
}

/** Δ, and what it had to exceed. */
const passText = ({ change, threshold }) => `${signed(change)} (± ${percent(threshold)})`

/** "1 reproduced regression, 0 reproduced improvements; 9 neutral, 2 inconclusive". */
export function verdictLine(rows) {
  const count = (field, value) => rows.filter((row) => row[field] === value).length
  const found = ['regression', 'improvement'].map((direction) => {
    const number = count('direction', direction)
    return `${number} reproduced ${direction}${number === 1 ? '' : 's'}`
  })
  const rest = ['neutral', 'inconclusive', 'drift-suspected', 'contaminated']
    .map((verdict) => [count('verdict', verdict), verdict])
    .filter(([number, verdict]) => number > 0 || verdict === 'neutral')
    .map(([number, verdict]) => `${number} ${verdict}`)
  return `${found.join(', ')}; ${rest.join(', ')}`
}
