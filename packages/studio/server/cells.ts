import type { SqlValue } from 'resqlite'
import { HttpError } from './http-error.js'
import { CELL_BLOB, CELL_TEXT } from './limits.js'

/**
 * A value as a page gets and sends it: null, or a letter for the storage class and the value as text. So integers keep all
 * their digits, 1 and 1.0 differ, and long values are cut off.
 *
 * `i` INTEGER · `r` REAL · `t` TEXT · `T200:` the beginning of a TEXT of 200 characters · `b` BLOB in hexadecimal digits ·
 * `B200:` the beginning of a BLOB of 200 bytes
 */
export type Cell = string | null

/** The SQL that makes a cell of a column. `length` stops at the character 0, so it alone is no bound. */
export function cellOf(column: string, text = CELL_TEXT, blob = CELL_BLOB): string {
  return `CASE typeof(${column}) WHEN 'null' THEN NULL
    WHEN 'text' THEN CASE WHEN length(${column}) > ${text} OR octet_length(${column}) > ${4 * text} THEN 'T' || length(${column}) || ':' || substr(${column}, 1, ${text}) ELSE 't' || ${column} END
    WHEN 'blob' THEN CASE WHEN length(${column}) > ${blob} THEN 'B' || length(${column}) || ':' || hex(substr(${column}, 1, ${blob})) ELSE 'b' || hex(${column}) END
    WHEN 'integer' THEN 'i' || ${column}
    ELSE 'r' || ${column} END`.replace(/\s+/g, ' ')
}

/**
 * The cell of a value of a result. A number does not tell its storage class: whole ones count as INTEGER, unless they are so
 * large that an INTEGER would have come as a bigint.
 */
export function encodeCell(value: unknown): Cell {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return `i${value}`
  if (typeof value === 'number') return `${Number.isSafeInteger(value) ? 'i' : 'r'}${value}`
  if (typeof value === 'string') {
    return value.length > CELL_TEXT ? `T${value.length}:${value.slice(0, CELL_TEXT)}` : `t${value}`
  }
  const bytes = Buffer.from(value as Uint8Array)
  const shown = bytes.subarray(0, CELL_BLOB).toString('hex').toUpperCase()
  return bytes.length > CELL_BLOB ? `B${bytes.length}:${shown}` : `b${shown}`
}

/** The value of a cell that a page sends. One that was cut off is refused. */
export function decodeCell(cell: unknown): SqlValue {
  if (cell === null) return null
  if (typeof cell !== 'string') throw new HttpError(400, 'a cell must be a text or null')
  const text = cell.slice(1)
  if (cell[0] === 't') return text
  if (cell[0] === 'i' && /^[+-]?\d{1,19}$/.test(text)) return integer(text)
  if (cell[0] === 'r' && text.trim() !== '' && !Number.isNaN(Number(text))) return Number(text)
  if (cell[0] === 'b' && /^([\da-f]{2})*$/i.test(text)) return Buffer.from(text, 'hex')
  throw new HttpError(400, `not a valid cell: ${JSON.stringify(cell.slice(0, 40))}`)
}

/** What stands in a statement for the value of a cell. A REAL that is whole would be bound as an INTEGER. */
export function markOf(cell: unknown): string {
  return typeof cell === 'string' && cell[0] === 'r' ? 'CAST(? AS REAL)' : '?'
}

function integer(text: string): bigint {
  const value = BigInt(text)
  if (BigInt.asIntN(64, value) !== value) throw new HttpError(400, `${text} does not fit into an INTEGER`)
  return value
}
