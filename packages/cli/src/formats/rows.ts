import type { Output } from '../core/context.js'
import { type CsvStyle, PLAIN_CSV } from '../core/csv-style.js'
import { jsonString, jsonText } from '../core/values.js'
import { visibleLines } from '../terminal/visible.js'
import { csvRecord } from './csv-writer.js'
import { inserting } from './insert.js'
import { htmlWriter, lineWriter, markdownWriter } from './readable.js'
import { type RowValues, type RowWriter, rowsOnly } from './row-writer.js'
import { TableWriter } from './table-writer.js'

/** The formats in which rows are written. */
export const FORMATS = [
  'table',
  'box',
  'line',
  'markdown',
  'html',
  'json',
  'ndjson',
  'csv',
  'tsv',
  'insert',
] as const
export type Format = (typeof FORMATS)[number]

/** The choices within some formats. */
export interface FormatOptions {
  /** The style of CSV. */
  readonly csv?: CsvStyle
  /** True if a table is as wide as its rows, and not as the terminal. */
  readonly wide?: boolean
  /** The table into which `insert` inserts. */
  readonly table?: string
}

/** The length of text that is written at once, in UTF-16 units. */
const PIECE = 64 * 1024

/** Returns rows as text in a format, in pieces: writing each row alone would take longer than making its text. */
export async function* formatted(
  format: Format,
  names: readonly string[],
  rows: AsyncIterable<RowValues> | Iterable<RowValues>,
  output: Output,
  options: FormatOptions = {},
): AsyncGenerator<string, void> {
  const writer = writerFor(format, names, output, options)
  let piece = writer.begin
  for await (const row of rows) {
    piece += writer.row(row)
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  yield piece + writer.end()
}

function writerFor(
  format: Format,
  names: readonly string[],
  output: Output,
  { csv = PLAIN_CSV, wide = false, table = 'table' }: FormatOptions,
): RowWriter {
  switch (format) {
    case 'table':
    case 'box':
      return new TableWriter(names, output, wide, format === 'box')
    case 'line':
      return lineWriter(names)
    case 'markdown':
      return markdownWriter(names)
    case 'html':
      return htmlWriter(names)
    case 'json':
      return jsonWriter(objectWriter(names))
    case 'ndjson':
      return rowsOnly(objectWriter(names))
    case 'csv':
    case 'tsv':
      return csvWriter(names, output, format === 'tsv' ? { ...csv, delimiter: '\t' } : csv)
    case 'insert':
      return insertWriter(names, output, table)
  }
}

function csvWriter(names: readonly string[], output: Output, style: CsvStyle): RowWriter {
  const shown = shownOn(output)
  const row = (values: RowValues) => shown(csvRecord(values, style))
  return { begin: row(names), row, end: () => '' }
}

function insertWriter(names: readonly string[], output: Output, table: string): RowWriter {
  const shown = shownOn(output)
  const statement = inserting(table, names)
  return rowsOnly((values) => shown(statement(values)))
}

/** Returns a function that makes control characters visible if the output is a terminal. */
function shownOn({ isTTY }: Output): (text: string) => string {
  return isTTY ? visibleLines : (text) => text
}

function jsonWriter(object: (values: RowValues) => string): RowWriter {
  let rows = 0
  return {
    begin: '[',
    row: (values) => `${rows++ === 0 ? '\n' : ',\n'}${object(values)}`,
    end: () => (rows === 0 ? ']\n' : '\n]\n'),
  }
}

function objectWriter(names: readonly string[]): (values: RowValues) => string {
  const keys = distinct(names).map((name) => `${jsonString(name)}:`)
  return (values) => `{${values.map((value, column) => keys[column] + jsonText(value)).join()}}`
}

/** Makes the names distinct, because an object has one value for each name. A second `id` becomes `id:1`, as in SQLite's subqueries. */
function distinct(names: readonly string[]): string[] {
  const taken = new Set<string>()
  return names.map((name) => {
    let free = name
    for (let n = 1; taken.has(free); n++) free = `${name}:${n}`
    taken.add(free)
    return free
  })
}
