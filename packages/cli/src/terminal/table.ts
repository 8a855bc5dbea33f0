import type { ColumnValue } from 'resqlite'
import { cellText } from '../core/values.js'
import type { Look, Paint } from './style.js'
import { visible } from './visible.js'
import { cut, pad, widthOf } from './width.js'

const BETWEEN = ' │ '
const CROSSING = '─┼─'

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
  ) {
    const texts = names.map(visible)
    const natural = texts.map((name, column) =>
      measured.reduce((widest, row) => Math.max(widest, textWidth(row[column], space)), widthOf(name)),
    )
    this.#widths = fitted(natural, space)
    this.#names = texts.slice(0, this.#widths.length)
    this.hidden = names.length - this.#widths.length
  }

  /** Returns the names of the columns, and a line below them. */
  head(): string[] {
    const names = this.#names.map((name, column) => this.paint(this.#shaped(name, column, false), 'bold'))
    const rule = this.#widths.map((width) => '─'.repeat(width)).join(CROSSING)
    return [this.#line(names), this.paint(rule, 'dim')]
  }

  /** Returns a row as a line. `look` gives the look of each cell; the default is plain. */
  row(values: readonly ColumnValue[], look?: (column: number) => Look): string {
    return this.#line(
      this.#widths.map((_, column) => {
        const value = values[column] as ColumnValue
        const isNumber = typeof value === 'number' || typeof value === 'bigint'
        const text = this.#shaped(visible(cellText(value)), column, isNumber)
        const asked = look?.(column) ?? 'plain'
        return this.paint(text, asked === 'plain' && value === null ? 'dim' : asked)
      }),
    )
  }

  #shaped(text: string, column: number, right: boolean): string {
    const width = this.#widths[column] as number
    return pad(this.space === Number.POSITIVE_INFINITY ? text : cut(text, width), width, right)
  }

  #line(cells: string[]): string {
    return cells.join(this.paint(BETWEEN, 'dim')).trimEnd()
  }
}

/** Returns the width of a text. A text wider than the terminal is cut anyway, so only its beginning is measured. */
function textWidth(value: ColumnValue | undefined, space: number): number {
  const text = cellText(value as ColumnValue)
  return widthOf(visible(space === Number.POSITIVE_INFINITY ? text : text.slice(0, 4 * space)))
}

/** Narrows the widest columns until all fit. If this is not enough, leaves out the last columns. */
function fitted(natural: readonly number[], asked: number): number[] {
  const space = Math.max(1, asked)
  const widths = [...natural]
  const total = () => widths.reduce((sum, width) => sum + width, BETWEEN.length * (widths.length - 1))
  const least = (width: number) => Math.min(width, NARROW)
  while (widths.length > 1 && widths.reduce((sum, width) => sum + least(width) + 3, -3) > space) widths.pop()
  while (total() > space) {
    const widest = Math.max(...widths)
    if (widest <= NARROW && widths.length > 1) break
    const next = Math.max(...widths.filter((width) => width < widest), widths.length > 1 ? NARROW : 1)
    const many = widths.filter((width) => width === widest).length
    const excess = Math.ceil((total() - space) / many)
    const narrower = Math.max(Math.min(next, widest - 1), widest - excess, 1)
    for (let i = 0; i < widths.length; i++) if (widths[i] === widest) widths[i] = narrower
  }
  return widths
}
