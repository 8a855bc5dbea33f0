// The index in experiments/README.md, made from the records and what signals.json says of them. Pure.
import { field } from './record.mjs'

export const beginMark = '<!-- index: made by npm run experiment -- index -->'
export const endMark = '<!-- end of the index -->'

/** The lines of the index, markers aside. */
export function indexLines(records, signals) {
  return [
    '',
    '| record | date | status | direction | in short |',
    '|---|---|---|---|---|',
    ...records.map((record) => row(record, signals.experiments?.[record.number])),
    '',
  ]
}

function row(record, entry) {
  const value = (name) => field(record, name)?.value ?? ''
  const short = firstSentence(entry?.changedBeliefs?.[0] ?? '–')
  const cells = [
    `[${record.number}](${record.name})`,
    value('Date'),
    value('Status'),
    value('Direction'),
    short,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** A sentence ends with a full stop before a space; its stop is left out. */
export function firstSentence(text) {
  return text.split(/[.!?](?=\s|$)/, 1)[0]
}

/** The lines between the markers with their place, or undefined when the markers are not there once each, in order. */
export function currentIndex(readme) {
  const lines = readme.split('\n')
  const begin = lines.indexOf(beginMark)
  const end = lines.indexOf(endMark)
  const once = lines.lastIndexOf(beginMark) === begin && lines.lastIndexOf(endMark) === end
  if (begin < 0 || end < begin || !once) return undefined
  return { lines: lines.slice(begin + 1, end), first: begin + 2 }
}

/** The README with its index replaced. Throws when its markers are not there. */
export function withIndex(readme, index) {
  const current = currentIndex(readme)
  if (!current) throw new Error(`experiments/README.md needs "${beginMark}" and, below it, "${endMark}"`)
  const lines = readme.split('\n')
  lines.splice(current.first - 1, current.lines.length, ...index)
  return lines.join('\n')
}
