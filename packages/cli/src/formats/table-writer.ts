import type { Output } from '../core/context.js'
import { sizeOf } from '../terminal/output.js'
import { painter } from '../terminal/style.js'
import { Table } from '../terminal/table.js'
import type { RowValues, RowWriter } from './row-writer.js'

/** The number of rows of a table that are read before the first is written, to find out how wide its columns must be. */
const MEASURED_ROWS = 500

/** Keeps the first rows until it knows the widths of the columns. */
export class TableWriter implements RowWriter {
  readonly begin = ''
  #waiting: RowValues[] = []
  #table: Table | undefined

  /** `wide`: the table may be wider than the terminal. `boxed`: lines surround it. */
  constructor(
    readonly names: readonly string[],
    readonly output: Output,
    readonly wide: boolean,
    readonly boxed: boolean,
  ) {}

  row(values: RowValues): string {
    if (this.#table !== undefined) return `${this.#table.row(values)}\n`
    return this.#waiting.push(values) === MEASURED_ROWS ? this.#measured(this.#waiting) : ''
  }

  end(): string {
    const rows = this.#table === undefined ? this.#measured(this.#waiting) : ''
    const { hidden, foot } = this.#table as unknown as Table
    const left = `(${hidden} more ${hidden === 1 ? 'column does' : 'columns do'} not fit the terminal: --wide shows them)`
    return [rows, ...foot.map((line) => `${line}\n`), ...(hidden === 0 ? [] : [`${left}\n`])].join('')
  }

  #measured(rows: RowValues[]): string {
    const space = this.output.isTTY && !this.wide ? sizeOf(this.output).columns : Number.POSITIVE_INFINITY
    const table = new Table(this.names, rows, space, painter(this.output), this.boxed)
    this.#table = table
    this.#waiting = []
    return `${[...table.head(), ...rows.map((row) => table.row(row))].join('\n')}\n`
  }
}
