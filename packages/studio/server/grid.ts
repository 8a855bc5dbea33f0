import type { Database, Query } from 'resqlite'
import { type Cell, cellOf, type SentCell } from '../cells/cell.js'
import type { Table } from './catalog.js'
import { type Bound, type Bounds, cellSql, isStill } from './cells.js'
import { keyAt, spanOfKeys } from './directory.js'
import { HttpError } from './http-error.js'
import { columnOf, keyCells, keyCompare, keyFrom, keyOrder, sourceOf, valuesOf } from './keys.js'
import {
  CELL_BLOB,
  CELL_TEXT,
  COPIED_TEXT,
  KEYLESS_ROWS,
  type Times,
  VALUE_TEXT,
  WINDOW_BYTES,
  WINDOW_ROWS,
} from './limits.js'
import { MARK } from './own-statements.js'

/**
 * Reads a table of any size for a grid: never by OFFSET, always from a key on. A page watches a window of some hundred rows,
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

/**
 * The rows from a key on, or from the first. The columns of the result are the key, from `k0` on, and the cells, from `c0` on. The
 * key columns are cells, too.
 */
export function windowQuery(part: Part, from: readonly Bound[] | undefined): Query {
  const { table, sort } = part
  const isWhole = table.key.length === 0 || sort !== undefined
  const shown = shownOf(table.columns.length, isWhole ? KEYLESS_ROWS : WINDOW_ROWS)
  const cells = table.columns.map(({ name }, i) => `${cellSql(columnOf(name), shown)} AS c${i}`)
  if (isWhole) return { sql: wholeQuery(part, cells) }
  const list = [...keyCells(table), ...cells].join(', ')
  const start = from === undefined ? undefined : keyCompare(table, '>=', from)
  const sql = `${MARK}SELECT ${list} FROM ${sourceOf(table)}${where(part, start)} ORDER BY ${keyOrder(table)} LIMIT ${WINDOW_ROWS}`
  return { sql, params: valuesOf(from ?? []) }
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
  const places = table.key.length === 0 ? by : [...by, keyOrder(table)]
  const ordered = places.length === 0 ? '' : ` ORDER BY ${places.join(', ')}`
  return `${MARK}SELECT ${[...keys, ...cells].join(', ')} FROM ${sourceOf(part.table)}${where(part)}${ordered} LIMIT ${KEYLESS_ROWS}`
}

/**
 * Refuses a filter that is no expression. Between CASE WHEN and THEN, one that closes a parenthesis or leaves a comment open is an
 * error. What could get out there needs a THEN, which is an error between the parentheses of {@link where}.
 */
export async function checkFilter(db: Database, part: Part): Promise<void> {
  const { filter } = part
  if (filter.trim() === '') return
  const before = `${MARK}SELECT CASE WHEN `
  try {
    await db.describe(`${before}${filter}\n THEN 1 END FROM ${sourceOf(part.table)}`)
  } catch (error) {
    throw ofFilter(error, filter, before.length)
  }
}

/** An error of a filter, without what the studio has put around it. */
function ofFilter(error: unknown, filter: string, before: number): unknown {
  const { code, message, offset } = error as Error & { code?: string; offset?: number }
  if (!code?.startsWith('SQLITE_')) return error
  const at = offset === undefined ? undefined : offset - before
  const isIn = at === undefined || at < filter.length
  const why = isIn ? message : 'it ends too early'
  const told = `the filter is no condition in SQL, such as a = 1: ${why}`
  return new HttpError(422, told, { code, ...(isIn && { offset: at }) })
}

/**
 * Refuses rows that take too long to find. A live query has no limit of time, and to find the rows of a filter, an order or a view
 * may take any time. Rows from a key on are found at once.
 */
export async function checkTime(
  db: Database,
  part: Part,
  query: Query,
  time: number,
  signal: AbortSignal,
): Promise<void> {
  const { table, filter, sort } = part
  if (filter.trim() === '' && sort === undefined && table.key.length > 0) return
  try {
    await db.select(query.sql, query.params ?? [], { arrays: true, limits: { time }, signal })
  } catch (error) {
    if ((error as { code?: string }).code !== 'RESQLITE_LIMIT') throw error
    // Not a status after which the page would ask again.
    throw new HttpError(403, `the rows take longer than ${time / 1000} seconds to find`)
  }
}

/** Number of characters that a cell shows. A window stays small then: a character takes up to four bytes. */
function shownOf(columns: number, rows: number): Bounds {
  const bytes = WINDOW_BYTES / (columns * rows) - 16
  const text = Math.max(4, Math.min(CELL_TEXT, Math.floor(bytes / 4)))
  return { text, blob: Math.max(2, Math.min(CELL_BLOB, text)) }
}

/** The columns by which the rows of a window are told apart. */
export function windowKey({ key }: Table): string[] {
  return key.length === 0 ? ['k0'] : key.map((_, i) => `k${i}`)
}

/** Where a window begins. */
export interface Start {
  /** The key of its first row; null if there are no rows. */
  readonly from: Cell[] | null
  /** Number of rows in the window before the requested row. */
  readonly before: number
}

/**
 * Finds the key that is up to `back` rows before a row: that with the given key, or that at a place in the table, from 0 to 1.
 */
export async function seek(
  db: Database,
  part: Part,
  target: { readonly key: readonly Bound[] } | { readonly place: number },
  back: number,
  times: Times,
): Promise<Start> {
  const { table } = part
  const found = 'key' in target ? target.key : await keyAt(db, table, target.place, times)
  if (found === undefined) return { from: null, before: 0 }
  const key = 'key' in target ? target.key : keyFrom(table, found)
  const from = `${MARK}SELECT ${keyCells(table).join(', ')} FROM ${sourceOf(table)}`
  const options = { arrays: true, limits: { time: times.statement } } as const
  const earlier = `${from}${where(part, keyCompare(table, '<', key))} ORDER BY ${keyOrder(table, 'DESC')} LIMIT ${back}`
  const rows = await db.select<SentCell[]>(earlier, valuesOf(key), options)
  const first = rows.at(-1)
  if (first !== undefined) return { from: first.map(cellOf), before: rows.length }
  const at = `${from}${where(part, keyCompare(table, '>=', key))} ORDER BY ${keyOrder(table)} LIMIT 1`
  const row = await db.selectOne<SentCell[]>(at, valuesOf(key), options)
  return { from: row?.map(cellOf) ?? null, before: 0 }
}

/** The number of rows; of a large table, an estimate from its keys, or null. */
export async function countRows(
  db: Database,
  part: Part,
  time: number,
): Promise<{ rows: number | null; exact: boolean }> {
  const sql = `${MARK}SELECT count(*) AS n FROM ${sourceOf(part.table)}${where(part)}`
  try {
    const row = await db.selectOne<{ n: unknown }>(sql, [], { limits: { time } })
    return { rows: Number(row?.n ?? 0), exact: true }
  } catch (error) {
    if ((error as { code?: string }).code !== 'RESQLITE_LIMIT') throw error
    return { rows: part.filter === '' ? await spanOfKeys(db, part.table) : null, exact: false }
  }
}

/** A value to be read as a whole: of the row with a key; of what has no key, one that begins like a cell. */
export interface WholeValue {
  readonly column: unknown
  readonly key: readonly Bound[] | undefined
  readonly cell: unknown
  /** A value that is to be copied may be longer. */
  readonly isCopied: boolean
}

/** Reads one value as a whole; undefined if the row is gone. */
export async function readValue(
  db: Database,
  part: Part,
  { column, key, cell, isCopied }: WholeValue,
  time: number,
): Promise<Cell | undefined> {
  const { table } = part
  const found = table.columns.find(({ name }) => name === column)
  if (found === undefined) throw new HttpError(404, 'there is no such column')
  const name = columnOf(found.name)
  const most = isCopied ? COPIED_TEXT : VALUE_TEXT
  const { sql: condition, params } =
    key === undefined ? isStill(name, cell) : { sql: keyCompare(table, '=', key), params: valuesOf(key) }
  const sql = `${MARK}SELECT DISTINCT ${cellSql(name, { text: most, blob: most / 2 })} FROM ${sourceOf(table)}${where(part, condition)} LIMIT 2`
  const values = await db.select<[SentCell]>(sql, params, { arrays: true, limits: { time } })
  if (values.length > 1) throw new HttpError(409, 'several values begin like this one: find it with SQL')
  return values[0] && cellOf(values[0][0])
}

/** A filter ends with its line, so that a comment in it cannot take the rest along. */
function where({ filter }: Part, condition?: string): string {
  const conditions = [filter.trim() === '' ? undefined : `(${filter}\n)`, condition]
  const given = conditions.filter((one) => one !== undefined)
  return given.length === 0 ? '' : ` WHERE ${given.join(' AND ')}`
}
