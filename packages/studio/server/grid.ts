import type { Database, Query, SqlValue } from 'resqlite'
import type { Table } from './catalog.js'
import { type Cell, cellOf, decodeCell } from './cells.js'
import { keyAt, spanOfKeys } from './directory.js'
import { HttpError } from './http-error.js'
import {
  CELL_BLOB,
  CELL_TEXT,
  COUNT_TIME,
  KEYLESS_ROWS,
  STATEMENT_TIME,
  VALUE_TEXT,
  WINDOW_BYTES,
  WINDOW_ROWS,
} from './limits.js'
import { quote } from './names.js'
import { MARK } from './own-statements.js'

/**
 * How a grid reads a table of any size: never by OFFSET, always from a key on. A page watches a window of some hundred rows,
 * and asks for the key at which another one begins.
 */

/** Part of a table: the rows that fulfil an expression of SQL, or all. */
export interface Part {
  readonly table: Table
  readonly filter: string
  /** By which column rows are ordered; by the key, if there is none. */
  readonly sort?: Sort | undefined
}

export interface Sort {
  readonly column: string
  readonly descending: boolean
}

/** The names of the columns of a window's rows: cells, and before them the key. */
const cellName = (index: number) => `c${index}`
const keyName = (index: number) => `k${index}`

/** The rows from a key on, or from the first. The key columns of the result are cells, too. */
export function windowQuery(part: Part, from: readonly SqlValue[] | undefined): Query {
  const { table, sort } = part
  const isWhole = table.key.length === 0 || sort !== undefined
  const shown = shownOf(table.columns.length, isWhole ? KEYLESS_ROWS : WINDOW_ROWS)
  const cells = table.columns.map(
    ({ name }, i) => `${cellOf(columnOf(name), shown.text, shown.blob)} AS ${cellName(i)}`,
  )
  if (isWhole) return { sql: wholeQuery(part, cells) }
  const keys = keyCells(table)
  const list = [...keys, ...cells].join(', ')
  const start = from === undefined ? undefined : `${tuple(table)} >= (${from.map(() => '?').join(', ')})`
  const sql = `${MARK}SELECT ${list} FROM ${sourceOf(part)}${where(part, start)} ORDER BY ${order(table)} LIMIT ${WINDOW_ROWS}`
  return { sql, params: from ?? [] }
}

/** The first rows of what has no key, or is in an order of its own. */
function wholeQuery(part: Part, cells: readonly string[]): string {
  const { table, sort } = part
  const direction = sort?.descending ? 'DESC' : 'ASC'
  const by = sort === undefined ? [] : [`${columnOf(sort.column)} ${direction}`]
  const keys =
    table.key.length === 0
      ? [`row_number() OVER (${by.length === 0 ? '' : `ORDER BY ${by}`}) AS k0`]
      : keyCells(table)
  const places = table.key.length === 0 ? by : [...by, order(table)]
  const ordered = places.length === 0 ? '' : ` ORDER BY ${places.join(', ')}`
  return `${MARK}SELECT ${[...keys, ...cells].join(', ')} FROM ${sourceOf(part)}${where(part)}${ordered} LIMIT ${KEYLESS_ROWS}`
}

/**
 * Refuses a filter that is no expression. Between CASE WHEN and THEN, one that closes a parenthesis or leaves a comment open is an
 * error. What could get out there needs a THEN, which is an error between the parentheses of {@link where}.
 */
export async function checkFilter(db: Database, part: Part): Promise<void> {
  const { filter } = part
  if (filter.trim() === '') return
  await db.describe(`${MARK}SELECT CASE WHEN ${filter}\n THEN 1 END FROM ${sourceOf(part)}`)
}

/**
 * Refuses rows that take too long to find. A live query has no limit of time, and to find the rows of a filter, an order or a view
 * may take any time. Rows from a key on are found at once.
 */
export async function checkTime(db: Database, part: Part, query: Query, signal: AbortSignal): Promise<void> {
  const { table, filter, sort } = part
  if (filter.trim() === '' && sort === undefined && table.key.length > 0) return
  try {
    await db.select(query.sql, query.params ?? [], { arrays: true, limits: { time: STATEMENT_TIME }, signal })
  } catch (error) {
    if ((error as { code?: string }).code !== 'RESQLITE_LIMIT') throw error
    // Not a status after which the page would ask again.
    throw new HttpError(403, `the rows take longer than ${STATEMENT_TIME / 1000} seconds to find`)
  }
}

/** How much a cell shows, so that a window stays small: a character takes up to four bytes, and a cell some by itself. */
function shownOf(columns: number, rows: number): { text: number; blob: number } {
  const bytes = WINDOW_BYTES / (columns * rows) - 16
  const text = Math.max(4, Math.min(CELL_TEXT, Math.floor(bytes / 4)))
  return { text, blob: Math.max(2, Math.min(CELL_BLOB, text)) }
}

/** The columns by which the rows of a window are told apart. */
export function windowKey({ key }: Table): string[] {
  return key.length === 0 ? ['k0'] : key.map((_, i) => keyName(i))
}

/** The key of a row as a page sends it. */
export function keyFrom({ key }: Table, cells: unknown): SqlValue[] {
  if (!Array.isArray(cells) || cells.length !== key.length || key.length === 0) {
    throw new HttpError(400, `the key of this table has ${key.length} columns`)
  }
  return cells.map(decodeCell)
}

/** Where a window begins. */
export interface Start {
  /** The key of its first row; null if there are no rows. */
  readonly from: Cell[] | null
  /** How many rows are in it before the row that was asked for. */
  readonly before: number
}

/**
 * Finds the key that is up to `back` rows before a row: that with the given key, or that at a place in the table, from 0 to 1.
 */
export async function seek(
  db: Database,
  part: Part,
  target: { readonly key: readonly SqlValue[] } | { readonly place: number },
  back: number,
): Promise<Start> {
  const { table } = part
  const key = 'key' in target ? target.key : await keyAt(db, table, target.place)
  if (key === undefined) return { from: null, before: 0 }
  const cells = keyCells(table).join(', ')
  const marks = key.map(() => '?').join(', ')
  const earlier = `${MARK}SELECT ${cells} FROM ${sourceOf(part)}${where(part, `${tuple(table)} < (${marks})`)} ORDER BY ${order(table, 'DESC')} LIMIT ${back}`
  const rows = await db.select<Cell[]>(earlier, key, { arrays: true, limits: { time: STATEMENT_TIME } })
  const first = rows.at(-1)
  if (first !== undefined) return { from: first, before: rows.length }
  const at = `${MARK}SELECT ${cells} FROM ${sourceOf(part)}${where(part, `${tuple(table)} >= (${marks})`)} ORDER BY ${order(table)} LIMIT 1`
  const row = await db.selectOne<Cell[]>(at, key, { arrays: true, limits: { time: STATEMENT_TIME } })
  return { from: row ?? null, before: 0 }
}

/** The number of rows; of a large table, an estimate from its keys, or null. */
export async function countRows(db: Database, part: Part): Promise<{ rows: number | null; exact: boolean }> {
  const sql = `${MARK}SELECT count(*) AS n FROM ${sourceOf(part)}${where(part)}`
  try {
    const row = await db.selectOne<{ n: number }>(sql, [], { limits: { time: COUNT_TIME } })
    return { rows: row?.n ?? 0, exact: true }
  } catch (error) {
    if ((error as { code?: string }).code !== 'RESQLITE_LIMIT') throw error
    return { rows: part.filter === '' ? await spanOfKeys(db, part.table) : null, exact: false }
  }
}

/** Reads one value as a whole, up to a million characters; undefined if the row is gone. */
export async function readValue(
  db: Database,
  table: Table,
  key: readonly SqlValue[],
  column: unknown,
): Promise<Cell | undefined> {
  const found = table.columns.find(({ name }) => name === column)
  if (found === undefined) throw new HttpError(404, 'there is no such column')
  const part = { table, filter: '' }
  const condition = `${tuple(table)} = (${key.map(() => '?').join(', ')})`
  const sql = `${MARK}SELECT ${wholeCell(found.name)} AS value FROM ${sourceOf(part)}${where(part, condition)}`
  return (await db.selectOne<{ value: Cell }>(sql, key))?.value
}

/** The columns of a result that are the key, as a page sends it back. */
function keyCells({ key }: Table): string[] {
  return key.map((name, i) => `${wholeCell(name)} AS ${keyName(i)}`)
}

function wholeCell(name: string): string {
  return cellOf(columnOf(name), VALUE_TEXT, VALUE_TEXT / 2)
}

/** Columns are named with the table, since a name alone could also be a text: "misspelt". */
function columnOf(name: string): string {
  return `t.${quote(name)}`
}

function sourceOf({ table: { schema, name } }: Part): string {
  return `${quote(schema)}.${quote(name)} AS t`
}

function tuple({ key }: Table): string {
  const columns = key.map(columnOf)
  return columns.length === 1 ? (columns[0] as string) : `(${columns.join(', ')})`
}

function order({ key }: Table, direction = 'ASC'): string {
  return key.map((name) => `${columnOf(name)} ${direction}`).join(', ')
}

/** A filter ends with its line, so that a comment in it cannot take the rest along. */
function where({ filter }: Part, condition?: string): string {
  const conditions = [filter.trim() === '' ? undefined : `(${filter}\n)`, condition]
  const given = conditions.filter((one) => one !== undefined)
  return given.length === 0 ? '' : ` WHERE ${given.join(' AND ')}`
}
