import type { ColumnValue } from 'resqlite'
import type { Output } from '../core/context.js'
import { type CsvStyle, PLAIN_CSV } from '../core/csv-style.js'
import { jsonString, jsonText } from '../core/values.js'
import { sizeOf } from '../terminal/output.js'
import { painter } from '../terminal/style.js'
import { Table } from '../terminal/table.js'
import { visibleLines } from '../terminal/visible.js'
import { csvRecord } from './csv-writer.js'

/** The formats in which rows are written. */
export const FORMATS = ['table', 'json', 'ndjson', 'csv'] as const
export type Format = (typeof FORMATS)[number]

/** The number of rows of a table that are read before the first is written, to find out how wide its columns must be. */
const MEASURED_ROWS = 500

/** The length of text that is written at once, in UTF-16 units. */
const PIECE = 64 * 1024

type RowValues = readonly ColumnValue[]

/** Turns rows into text. */
interface RowWriter {
  readonly begin: string
  row(values: RowValues): string
  end(): string
}

/** Returns rows as text in a format, in pieces: writing each row alone would take longer than making its text. */
export async function* formatted(
  format: Format,
  names: readonly string[],
  rows: AsyncIterable<RowValues> | Iterable<RowValues>,
  output: Output,
  csv: CsvStyle = PLAIN_CSV,
): AsyncGenerator<string, void> {
  const writer = writerFor(format, names, output, csv)
  let piece = writer.begin
  for await (const row of rows) {
    piece += writer.row(row)
    if (piece.length < PIECE) continue
    yield piece
    piece = ''
  }
  yield piece + writer.end()
}

function writerFor(format: Format, names: readonly string[], output: Output, csv: CsvStyle): RowWriter {
  if (format === 'csv') return csvWriter(names, output, csv)
  if (format === 'table') return new TableWriter(names, output)
  const object = objectWriter(names)
  return format === 'json'
    ? jsonWriter(object)
    : { begin: '', row: (values) => `${object(values)}\n`, end: () => '' }
}

function csvWriter(names: readonly string[], output: Output, style: CsvStyle): RowWriter {
  const shown = output.isTTY ? visibleLines : (text: string) => text
  const row = (values: RowValues) => shown(csvRecord(values, style))
  return { begin: row(names), row, end: () => '' }
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

/** Keeps the first rows until it knows the widths of the columns. */
class TableWriter implements RowWriter {
  readonly begin = ''
  #waiting: RowValues[] = []
  #table: Table | undefined

  constructor(
    readonly names: readonly string[],
    readonly output: Output,
  ) {}

  row(values: RowValues): string {
    if (this.#table !== undefined) return `${this.#table.row(values)}\n`
    return this.#waiting.push(values) === MEASURED_ROWS ? this.#measured(this.#waiting) : ''
  }

  end(): string {
    const rows = this.#table === undefined ? this.#measured(this.#waiting) : ''
    const hidden = this.#table?.hidden ?? 0
    return hidden === 0
      ? rows
      : `${rows}(${hidden} more ${hidden === 1 ? 'column does' : 'columns do'} not fit the terminal)\n`
  }

  #measured(rows: RowValues[]): string {
    const space = this.output.isTTY ? sizeOf(this.output).columns : Number.POSITIVE_INFINITY
    const table = new Table(this.names, rows, space, painter(this.output))
    this.#table = table
    this.#waiting = []
    return `${[...table.head(), ...rows.map((row) => table.row(row))].join('\n')}\n`
  }
}
