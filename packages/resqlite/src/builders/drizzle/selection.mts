import type { RowArray } from '../../core/types.js'

/** A query of Drizzle, as a live query sees it. */
export interface Selection {
  /** Makes of all rows what the query returns. Undefined if they are returned as they are. */
  readonly mapper: Mapper | undefined
  /**
   * Where Drizzle puts each column in its rows, as `name` or `group.name`. Undefined for a column that holds the rows of a
   * relation, and instead of the list if the query does not return a list of rows.
   */
  readonly paths: readonly (string | undefined)[] | undefined
  /** The columns and expressions, by their places in the rows. Drizzle makes the mapper of them. */
  readonly parts: unknown
}

export type Mapper = (rows: RowArray[]) => unknown

/** A column or an expression of Drizzle. */
interface Part {
  /** Of an expression: what reads its values, a column or a function. */
  readonly decoder?: unknown
  /** Of an expression with a name. */
  readonly sql?: unknown
  /** Of a column. Its aliases have the same. */
  readonly config?: object
  readonly mapFromDriverValue?: unknown
  /** Of the rows of a relation: their table, which reads nothing. */
  readonly fieldType?: string
}

/** Returns a text that is the same for parts of which Drizzle makes the same, and for no others. */
export function textOf(part: unknown): string {
  if (Array.isArray(part)) return `[${part.map(textOf).join()}]`
  if (typeof part !== 'function' && !(part instanceof Object)) return JSON.stringify(part) ?? ''
  const { decoder, sql, config, mapFromDriverValue, fieldType } = part as Part
  if (decoder !== undefined) return textOf(decoder)
  if (config !== undefined && mapFromDriverValue !== undefined) return numberOf(config)
  if (Object.getPrototypeOf(part) === Object.prototype) {
    const fields = Object.entries(part).filter(([name]) => name !== 'field' || fieldType !== 'Nested')
    return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`).join()}}`
  }
  return sql === undefined ? numberOf(part) : textOf(sql)
}

const numbers = new WeakMap<object, number>()
let last = 0

/** Functions and tables are equal only to themselves. */
function numberOf(object: object): string {
  const number = numbers.get(object) ?? ++last
  numbers.set(object, number)
  return `#${number}`
}
