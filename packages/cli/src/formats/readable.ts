import type { ColumnValue } from 'resqlite'
import { cellText } from '../core/values.js'
import { visible, visibleLines } from '../terminal/visible.js'
import { pad, widthOf } from '../terminal/width.js'
import { type RowWriter, rowsOnly } from './row-writer.js'

/** Writes each value on a line of its own, behind the name of its column, and an empty line between rows. */
export function lineWriter(names: readonly string[]): RowWriter {
  const shown = names.map(visible)
  const width = Math.max(0, ...shown.map(widthOf))
  const labels = shown.map((name) => `${pad(name, width, true)} = `)
  let rows = 0
  return {
    begin: '',
    row(values) {
      const lines = values.map((value, column) => `${labels[column]}${visible(cellText(value))}\n`)
      return `${rows++ === 0 ? '' : '\n'}${lines.join('')}`
    },
    end: () => '',
  }
}

/** Writes a table of GitHub's Markdown. */
export function markdownWriter(names: readonly string[]): RowWriter {
  const line = (texts: readonly string[]) => `| ${texts.map(markdown).join(' | ')} |`
  return {
    ...rowsOnly((values) => line(values.map(cellText))),
    begin: `${line(names)}\n|${' --- |'.repeat(names.length)}\n`,
  }
}

/** A cell of Markdown can have neither a bar nor the end of a line. */
function markdown(text: string): string {
  const escaped = text.replace(/[\\`*_<>&|[\]]/g, '\\$&')
  return visible(escaped.replace(/\r?\n/g, '<br>'))
}

/** Writes a table of HTML. NULL is an empty cell of the class `null`. */
export function htmlWriter(names: readonly string[]): RowWriter {
  const row = (cells: readonly string[]) => `<tr>${cells.join('')}</tr>\n`
  return {
    begin: `<table>\n${row(names.map((name) => `<th>${html(name)}</th>`))}`,
    row: (values) => row(values.map(htmlCell)),
    end: () => '</table>\n',
  }
}

function htmlCell(value: ColumnValue): string {
  return value === null ? '<td class="null"></td>' : `<td>${html(cellText(value))}</td>`
}

function html(text: string): string {
  return visibleLines(text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))
}
