import type { SqlValue } from 'resqlite'
import type { Cell } from '../cells/cell.js'
import type { Table } from './catalog.js'
import { type Bound, bindKey, cellSql } from './cells.js'
import { HttpError } from './http-error.js'
import { VALUE_TEXT } from './limits.js'
import { quote } from './names.js'

/** A table under the name `t`. */
export function sourceOf({ schema, name }: Table): string {
  return `${quote(schema)}.${quote(name)} AS t`
}

/** Columns are named with the table, since a name alone could also be a text: "misspelt". */
export function columnOf(name: string): string {
  return `t.${quote(name)}`
}

/** The columns of a result that are the key, as a page sends it back. */
export function keyCells({ key }: Table): string[] {
  return key.map((name, i) => `${keyCell(columnOf(name))} AS k${i}`)
}

/** A text that is more than printable ASCII is sent by its bytes: it may be no UTF-8, or have a character 0 in it. */
function keyCell(of: string): string {
  const isPlain = `length(${of}) = octet_length(${of}) AND ${of} NOT GLOB '*[^ -~]*'`
  const bounds = { text: VALUE_TEXT, blob: VALUE_TEXT / 2 }
  return `CASE WHEN typeof(${of}) <> 'text' OR ${isPlain} THEN ${cellSql(of, bounds)} ELSE 'x' || hex(CAST(${of} AS BLOB)) END`
}

/** The key of a row as a page sends it, to be compared as the index of the key compares it. */
export function keyFrom({ key, collations }: Table, cells: unknown): Bound[] {
  if (!Array.isArray(cells) || cells.length !== key.length || key.length === 0) {
    throw new HttpError(400, `the key of this table has ${key.length} columns`)
  }
  return cells.map((cell: Cell, i) => {
    const { mark, value } = bindKey(cell)
    return { mark: mark + collate(collations[i]), value }
  })
}

/** A comparison of the key of rows with a key. */
export function keyCompare({ key }: Table, operator: '=' | '<' | '>=', to: readonly Bound[]): string {
  const columns = key.map(columnOf).join(', ')
  const marks = to.map(({ mark }) => mark).join(', ')
  return key.length === 1 ? `${columns} ${operator} ${marks}` : `(${columns}) ${operator} (${marks})`
}

export function valuesOf(key: readonly Bound[]): SqlValue[] {
  return key.map(({ value }) => value)
}

export function keyOrder({ key, collations }: Table, direction = 'ASC'): string {
  return key.map((name, i) => `${columnOf(name)}${collate(collations[i])} ${direction}`).join(', ')
}

function collate(collation: string | undefined): string {
  return collation === undefined ? '' : ` COLLATE ${quote(collation)}`
}
