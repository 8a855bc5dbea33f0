// A run of audits → text.
import { table as markdownTable } from '../wording.mjs'

/** `run`: as stored by `--json`. */
export function written(run, markdown) {
  const { machine, quick } = run
  const heading = `resqlite audits${quick ? ' (quick: fewer bursts, indications only)' : ''}`
  const where =
    `${machine.date} · ${machine.cpu}, ${machine.cores} cores · ${machine.system} · Node.js ${machine.node} · ` +
    `load ${machine.load.toFixed(2)} at the start`
  const lines = [(markdown ? '# ' : '') + heading, '', where]
  for (const audit of run.audits) lines.push('', ...section(audit, markdown))
  return lines.join('\n')
}

function section({ id, version, title, error, tables }, markdown) {
  const heading = `${markdown ? '## ' : '== '}${title} (${markdown ? `\`${id}\`` : id} ${version})`
  if (error) return [heading, '', `failed: ${error}`]
  return [heading, ...tables.flatMap((table) => ['', ...block(table, markdown)])]
}

function block({ title, head, rows, notes = [] }, markdown) {
  const lines = markdown
    ? [`### ${title}`, '', markdownTable(head, rows)]
    : [title, '', plainTable(head, rows)]
  return [...lines, ...notes.flatMap((note) => ['', note])]
}

/** Columns of equal width: the first set to the left, all others to the right. */
export function plainTable(head, rows) {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column].length)))
  const line = (row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  ')
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}
