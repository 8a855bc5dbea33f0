import type { SqlValue } from 'resqlite'
import { type Cell, isCut, type Kind, kindOf, lengthOf, misfit, realText, textOf } from '../cells/cell.js'
import { HttpError } from './http-error.js'

/** The most of a value that a cell has, in characters of a text and bytes of a BLOB. */
export interface Bounds {
  readonly text: number
  readonly blob: number
}

/** The SQL that makes a cell of an expression. `length` stops at the character 0, so it alone is no bound. */
export function cellSql(of: string, bounds?: Bounds): string {
  const text = `'t' || ${of}`
  const blob = `'b' || hex(${of})`
  const cut = (whole: string, is: string, beginning: string) =>
    bounds === undefined ? whole : `CASE WHEN ${is} THEN ${beginning} ELSE ${whole} END`
  return `CASE typeof(${of}) WHEN 'text' THEN ${cut(
    text,
    `length(${of}) > ${bounds?.text} OR octet_length(${of}) > ${4 * (bounds?.text ?? 0)}`,
    `'T' || length(${of}) || ':' || substr(${of}, 1, ${bounds?.text})`,
  )} WHEN 'blob' THEN ${cut(
    blob,
    `length(${of}) > ${bounds?.blob}`,
    `'B' || length(${of}) || ':' || hex(substr(${of}, 1, ${bounds?.blob}))`,
  )} WHEN 'integer' THEN 'i' || ${of} ELSE ${of} END`
}

/** The bounds with which a cell was cut off. */
export function boundsOf(cell: Cell): Bounds | undefined {
  if (!isCut(cell)) return undefined
  const length = kindOf(cell) === 'text' ? [...textOf(cell)].length : textOf(cell).length / 2
  return { text: length, blob: length }
}

/**
 * The cell of a value of a result. `exact`: the database gives INTEGERs as bigints, so that every number is a REAL. If not, a whole
 * number counts as INTEGER, unless it is so large that an INTEGER would have come as a bigint.
 */
export function encodeCell(value: unknown, exact: boolean): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return `i${value}`
  if (typeof value === 'number')
    return !exact && Number.isSafeInteger(value) && !Object.is(value, -0)
      ? `i${value}`
      : `r${realText(value)}`
  if (typeof value === 'string') return `t${value}`
  const { buffer, byteOffset, length } = value as Uint8Array
  return `b${Buffer.from(buffer, byteOffset, length).toString('hex').toUpperCase()}`
}

/** A value as a statement takes it: the mark that stands there, and what is bound to it. */
export interface Bound {
  readonly mark: string
  readonly value: SqlValue
}

/** The value of a cell that a page sends. One that was cut off is refused. A REAL that is whole would be bound as an INTEGER. */
export function bind(cell: unknown): Bound {
  if (cell === null) return { mark: '?', value: null }
  const text = checked(cell)
  if (isCut(text)) throw new HttpError(400, 'a value that was cut off cannot be sent back')
  const value = decoded(text)
  return { mark: text[0] === 'r' ? 'CAST(? AS REAL)' : '?', value }
}

/** The same, as a part of a key. Numbers compare by value, so that a REAL needs no cast there; + keeps a cast from converting. */
export function bindKey(cell: unknown): Bound {
  if (typeof cell === 'string' && /^x(?:[\dA-F]{2})*$/.test(cell))
    return { mark: '(+CAST(? AS TEXT))', value: Buffer.from(cell.slice(1), 'hex') }
  return { mark: '?', value: bind(cell).value }
}

/** The condition that an expression still has the value of a cell: also the storage class, and whatever the collation. */
export function isStill(of: string, cell: unknown): { sql: string; params: SqlValue[] } {
  if (cell === null) return { sql: `${of} IS NULL`, params: [] }
  const text = checked(cell)
  const kind = `typeof(${of}) = '${kindOf(text)}'`
  if (!isCut(text)) return { sql: `${kind} AND +${of} = ? COLLATE BINARY`, params: [decoded(text)] }
  const { text: length } = boundsOf(text) as Bounds
  const begins = kindOf(text) === 'text' ? textOf(text) : Buffer.from(textOf(text), 'hex')
  const sql = `${kind} AND length(${of}) = ? AND substr(${of}, 1, ${length}) = ? COLLATE BINARY`
  return { sql, params: [lengthOf(text), begins] }
}

const LETTERS: ReadonlySet<string> = new Set('irtbTB')

function checked(cell: unknown): string {
  if (typeof cell !== 'string') throw new HttpError(400, 'a cell must be a text or null')
  const kind: Kind = kindOf(cell)
  const wrong = isCut(cell) && !/^[TB]\d+:/.test(cell) ? 'a length is missing' : misfit(kind, textOf(cell))
  if (LETTERS.has(cell[0] ?? '') && wrong === undefined) return cell
  throw new HttpError(
    400,
    `not a valid cell: ${JSON.stringify(cell.slice(0, 40))}: ${wrong ?? 'no such letter'}`,
  )
}

function decoded(cell: string): SqlValue {
  const text = textOf(cell)
  switch (kindOf(cell)) {
    case 'integer':
      return BigInt(text.replace('+', ''))
    case 'real':
      return Number(text)
    case 'blob':
      return Buffer.from(text, 'hex')
    default:
      return text
  }
}
