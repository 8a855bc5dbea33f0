import type { Cell, Kind } from '../cells.ts'
import type { TableColumn } from '../types.ts'

/** The storage class that a new value of a column most likely has: by the rules of SQLite's affinities. */
export function kindFor({ type }: TableColumn): Kind {
  if (/int/i.test(type)) return 'integer'
  if (/char|clob|text/i.test(type)) return 'text'
  if (/blob/i.test(type)) return 'blob'
  return /real|floa|doub/i.test(type) ? 'real' : 'text'
}

/** Why a text is no value of a storage class. */
export function misfit(kind: Kind, text: string): string | undefined {
  if (kind === 'integer' && !/^[+-]?\d{1,19}$/.test(text)) return 'An INTEGER is a sign and up to 19 digits.'
  if (kind === 'real' && (text.trim() === '' || Number.isNaN(Number(text)))) return 'This is not a number.'
  if (kind === 'blob' && !/^([\da-f]{2})*$/i.test(text))
    return 'A BLOB is written as pairs of hexadecimal digits.'
  return undefined
}

export function cellFrom(kind: Kind, text: string): Cell {
  return kind === 'null' ? null : `${kind[0]}${text}`
}
