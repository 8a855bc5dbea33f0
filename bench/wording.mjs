// Numbers as people read them.

export const digits = (value) =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

/** Milliseconds. */
export function time(ms) {
  if (Math.abs(ms) >= 1000) return `${digits(ms / 1000)} s`
  return Math.abs(ms) >= 1 ? `${digits(ms)} ms` : `${digits(ms * 1000)} µs`
}

export const rate = (perSecond) =>
  `${perSecond >= 10_000 ? `${Math.round(perSecond / 1000)}k` : Math.round(perSecond).toLocaleString('en')}/s`

export function bytes(count) {
  if (Math.abs(count) >= 2 ** 20) return `${digits(count / 2 ** 20)} MiB`
  return Math.abs(count) >= 1024 ? `${digits(count / 1024)} KiB` : `${Math.round(count)} bytes`
}

export const factor = (value) => (value >= 10 ? value.toFixed(1) : value.toFixed(2))

const count = (value) =>
  value >= 100 || Number.isInteger(value) ? Math.round(value).toLocaleString('en') : value.toFixed(3)

/** How a figure is written, by its kind. */
export const wording = {
  time,
  delay: time,
  times: (value) => `${value >= 10 ? value.toFixed(1) : value.toFixed(3)} ×`,
  count,
  rate,
  bytes,
}

/** A Markdown table whose columns are aligned in the source too; all but the first are set to the right. */
export function table(head, rows) {
  const lines = [head, ...rows].map((row) => row.map((cell) => String(cell)))
  const widths = head.map((_, column) => Math.max(3, ...lines.map((row) => row[column]?.length ?? 0)))
  const pad = (cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))
  const line = (row) => `| ${row.map(pad).join(' | ')} |`
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`,
  )
  return [line(lines[0]), `|${rule.join('|')}|`, ...lines.slice(1).map(line)].join('\n')
}
