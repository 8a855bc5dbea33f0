import type { ColumnValue } from 'resqlite'
import { cellText } from '../core/values.js'
import type { Look, Paint } from './style.js'
import { visible } from './visible.js'
import { cut, pad, widthOf } from './width.js'

const BETWEEN = ' │ '
const CROSSING = '─┼─'

/** The columns that the two sides of a box take. */
const SIDES = 4

/** The largest width to which cells are filled up if there is no terminal: longer ones would make all rows as long. */
const FILLED = 60

/** The smallest width to which columns are narrowed. If they still do not fit, the last ones are left out. */
const NARROW = 8

/** The rows of a result as lines, in columns that fit the rows that were measured. */
export class Table {
  readonly #widths: number[]
  readonly #names: string[]
  /** The number of columns that are left out because the terminal is too narrow. */
  readonly hidden: number

  /** `space`: the number of columns of the terminal; Infinity if there is no terminal, and nothing is cut. */
  constructor(
    names: readonly string[],
    measured: readonly (readonly ColumnValue[])[],
    readonly space: number,
    readonly paint: Paint,
    readonly boxed = false,
  ) {
    const texts = names.map(visible)
    const natural = texts.map((name, column) =>
      measured.reduce((widest, row) => Math.max(widest, textWidth(row[column], space)), widthOf(name)),
    )
    const numbers = texts.map((_, column) =>
      measured.reduce(
        (widest, row) => (isNumber(row[column]) ? Math.max(widest, textWidth(row[column], space)) : widest),
        0,
      ),
    )
    this.#widths =
      space === Number.POSITIVE_INFINITY
        ? natural.map((width) => Math.min(width, FILLED))
        : fitted(natural, numbers, boxed ? space - SIDES : space)
    this.#names = texts.slice(0, this.#widths.length)
    this.hidden = names.length - this.#widths.length
  }

  /** Returns the names of the columns, and a line below them. */
  head(): string[] {
    const names = this.#names.map((name, column) => this.paint(this.#shaped(name, column, false), 'bold'))
    const line = this.#line(names)
    if (!this.boxed) return [line, this.#rule('', CROSSING, '')]
    return [this.#rule('┌─', '─┬─', '─┐'), line, this.#rule('├─', CROSSING, '─┤')]
  }

  /** The lines below the last row. */
  get foot(): string[] {
    return this.boxed ? [this.#rule('└─', '─┴─', '─┘')] : []
  }

  /** Returns a row as a line. `look` gives the look of each cell; the default is plain. */
  row(values: readonly ColumnValue[], look?: (column: number) => Look): string {
    return this.#line(
      this.#widths.map((_, column) => {
        const value = values[column] as ColumnValue
        const text = this.#shaped(visible(cellText(value)), column, isNumber(value))
        const asked = look?.(column) ?? 'plain'
        return this.paint(text, asked === 'plain' && value === null ? 'dim' : asked)
      }),
    )
  }

  /** Returns a text in the width of its column. A number is never cut, because its beginning would be another number. */
  #shaped(text: string, column: number, number: boolean): string {
    const width = this.#widths[column] as number
    return pad(number || this.space === Number.POSITIVE_INFINITY ? text : cut(text, width), width, number)
  }

  #line(cells: string[]): string {
    const line = cells.join(this.paint(BETWEEN, 'dim'))
    return this.boxed ? `${this.paint('│ ', 'dim')}${line}${this.paint(' │', 'dim')}` : line.trimEnd()
  }

  #rule(left: string, crossing: string, right: string): string {
    return this.paint(
      `${left}${this.#widths.map((width) => '─'.repeat(width)).join(crossing)}${right}`,
      'dim',
    )
  }
}

function isNumber(value: ColumnValue | undefined): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Returns the width of a text. A text wider than the terminal is cut anyway, so only its beginning is measured. */
function textWidth(value: ColumnValue | undefined, space: number): number {
  const text = cellText(value as ColumnValue)
  return widthOf(visible(space === Number.POSITIVE_INFINITY ? text : text.slice(0, 4 * space)))
}

/**
 * Narrows the widest columns until all fit, but none below its widest number. If this is not enough, leaves out the last columns.
 */
function fitted(natural: readonly number[], numbers: readonly number[], asked: number): number[] {
  const space = Math.max(1, asked)
  const widths = [...natural]
  const total = () => widths.reduce((sum, width) => sum + width, BETWEEN.length * (widths.length - 1))
  const least = (column: number) =>
    Math.max(Math.min(natural[column] as number, widths.length > 1 ? NARROW : 1), numbers[column] as number)
  const leastTotal = () =>
    widths.reduce((sum, _, column) => sum + least(column), BETWEEN.length * (widths.length - 1))
  while (widths.length > 1 && leastTotal() > space) widths.pop()
  while (total() > space) {
    const widest = Math.max(...widths.filter((width, column) => width > least(column)))
    if (!Number.isFinite(widest)) break
    const excess = total() - space
    const many = widths.filter((width, column) => width === widest && width > least(column)).length
    const next = Math.max(0, ...widths.filter((width) => width < widest))
    const narrower = Math.max(next, widest - Math.ceil(excess / many))
    for (let i = 0; i < widths.length; i++) if (widths[i] === widest) widths[i] = Math.max(narrower, least(i))
  }
  return widths
}
