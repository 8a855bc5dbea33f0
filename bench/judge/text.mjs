// A comparison → Markdown.
import { table, wording } from '../wording.mjs'

export const percent = (fraction) =>
  Number.isFinite(fraction) ? `${(fraction * 100).toFixed(1)} %` : fraction > 0 ? '∞' : '-∞'

export const signed = (fraction) => (fraction > 0 ? `+${percent(fraction)}` : percent(fraction))

/** What counts comes first and in full; what does not, after it. */
export function comparisonText(comparison, names) {
  const { peer, rows, notComparable, differences, pace, control, verdict } = comparison
  const of = (...verdicts) => rows.filter((row) => verdicts.includes(row.verdict))
  return [
    `# ${peer}: ${names[0]} → ${names[1]}`,
    ...differences.map((difference) => `\n**Not the same in both:** ${difference}.`),
    ...part('Regressions', of('regression')),
    ...part('Improvements', of('improvement')),
    ...part('Neutral', of('neutral')),
    ...part('Shown, not judged', of('shown')),
    ...(notComparable.length > 0 ? ['\n## Not comparable\n', ...items(notComparable)] : []),
    '',
    ...(pace === 1 ? [] : [paceLine(pace), '']),
    controlLine(control),
    '',
    verdict,
  ].join('\n')
}

const paceLine = (pace) =>
  `Pace: an unchanged peer took ${pace.toFixed(2)} times as long in the later run. Its times and rates are shown at the pace of the earlier one.`

/** One line for the measures of a benchmark that are not comparable for the same reason. */
function items(notComparable) {
  const reasons = new Map()
  for (const { benchmark, measureTitle, why } of notComparable) {
    const text = `- ${benchmark}: ${why}`
    reasons.set(text, [...(reasons.get(text) ?? []), measureTitle])
  }
  return [...reasons].map(([text, measures]) => `${text} – ${measures.join(', ')}`)
}

function part(title, rows) {
  if (rows.length === 0) return []
  const head = ['benchmark', 'measure', 'before', 'after', 'Δ', 'counts beyond', 'stability']
  return [`\n## ${title}\n`, table(head, rows.map(line))]
}

const line = ({ benchmark, measureTitle, kind, before, after, change, threshold, stability }) => [
  benchmark,
  measureTitle,
  wording[kind](before.median),
  wording[kind](after.median),
  signed(change),
  percent(threshold),
  stability,
]

const controlLine = (control) =>
  control
    ? `Noise: the times of ${control.peer}, which did not change, moved by ${percent(control.median)} (median of ${control.count}).`
    : 'Noise: unknown, because no unchanged peer is in both runs.'
