// The index in experiments/README.md, made from the records and signals.json. Pure.

const marks = /(<!-- index: made by npm run experiment -- index -->\n).*(<!-- end of the index -->)/s

/** The text of experiments/README.md with a new index between its two marks. */
export function withIndex(readme, records, { experiments }) {
  const rows = records.map((record) => row(record, experiments[record.number]?.changedBeliefs[0]))
  const head = ['| record | date | status | direction | in short |', '|---|---|---|---|---|']
  return readme.replace(marks, (_, begin, end) => [begin, ...head, ...rows, '', end].join('\n'))
}

/** Returns true if the index has its marks and is as `withIndex` makes it. */
export function isCurrent(readme, records, signals) {
  return marks.test(readme) && withIndex(readme, records, signals) === readme
}

function row({ number, name, date, status, directions }, belief = '–') {
  const direction = directions.join(', ') || 'none yet'
  const cells = [`[${number}](${name})`, date, status, direction, firstSentence(belief)]
  return `| ${cells.map((cell) => `${cell}`.replaceAll('|', '\\|')).join(' | ')} |`
}

/** A sentence ends with a full stop before a space; the stop is left out. */
function firstSentence(text) {
  return text.split(/[.!?](?=\s|$)/, 1)[0]
}
