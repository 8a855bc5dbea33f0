// Where a text has figures, and which stored result files it names for them. Pure.
import { posix } from 'node:path'
import { numberedLines } from './record.mjs'

/** A number with a unit of time, memory, rate or ratio. */
const figure = /\d[\d.,]*\s?(?:×(?!\s?\d)|%|ns\b|µs\b|ms\b|s\b|\/s\b|[KMG]i?B\b)/

/** A file in one of the two folders that hold results. */
const resultPath = /^(?:experiments|bench)\/results\/[\w./-]*\w$/

/**
 * The result files that a line names: a path from the root in backticks, or the target of a link, which is relative to
 * the folder of the document.
 */
export function resultFiles(text, folder) {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map(([, path]) => path)
  const linked = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, path]) => posix.join(folder, path))
  return [...new Set([...quoted, ...linked].filter((path) => resultPath.test(path)))]
}

/** Whether a line of text, code aside, has a figure. */
export function hasFigure({ text, code }) {
  return !code && figure.test(withoutCode(text))
}

/** Whether these lines hold a figure in their text, or a table with numbers. */
export function haveFigures(lines) {
  return lines.some(hasFigure) || tables(lines).some(({ rows }) => hasNumbers(rows))
}

/** The tables among lines: where each begins, its rows, and the index of its first and last line. */
export function tables(lines) {
  const found = []
  for (const [index, line] of lines.entries()) {
    if (line.code || !line.text.startsWith('|')) continue
    const open = found.at(-1)
    if (open?.last === index - 1) Object.assign(open, { last: index, rows: [...open.rows, line.text] })
    else found.push({ line: line.line, first: index, last: index, rows: [line.text] })
  }
  return found
}

/** Whether a table has a number in a cell of its body that is not a row's name. */
export function hasNumbers(rows) {
  return rows.slice(2).some((row) =>
    row
      .split('|')
      .slice(2)
      .some((cell) => /\d/.test(cell)),
  )
}

/** Whether a table speaks of times, or of how many times. */
export function hasTimes(rows) {
  return hasNumbers(rows) && rows.some((row) => /×|÷|\b[mn]s\b|µs/.test(row))
}

/** The paragraph above a table, with or without an empty line between the two. */
export function captionOf(lines, { first }) {
  let end = first
  while (end > 0 && lines[end - 1].text.trim() === '') end -= 1
  let start = end
  while (start > 0 && lines[start - 1].text.trim() !== '') start -= 1
  return lines.slice(start, end)
}

/** What stands around each table and belongs to no other one: from the table before to the table after. */
export function surroundingsOf(lines, found, position) {
  const start = position === 0 ? 0 : found[position - 1].last + 1
  const end = found[position + 1]?.first ?? lines.length
  return lines.slice(start, end)
}

/** The parts of a Markdown text between its headings, each with the line it begins at. */
export function parts(text) {
  const found = [{ title: 'the beginning', line: 1, lines: [] }]
  for (const line of numberedLines(text)) {
    const [, title] = (!line.code && /^#{1,6} (.+)/.exec(line.text)) || []
    if (title) found.push({ title, line: line.line, lines: [] })
    else found.at(-1).lines.push(line)
  }
  return found
}

function withoutCode(text) {
  return text.replace(/`[^`]*`/g, '')
}
