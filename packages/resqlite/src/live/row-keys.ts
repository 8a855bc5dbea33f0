import { ResqliteError } from '../core/errors'
import type { ColumnValue, Row } from '../core/types'

/** The key of a row. Equal keys are equal by `===`. */
export type RowKey = string | number | bigint | null

/** Columns, by their names or, for rows that are arrays, by their indexes. */
export type Columns = readonly string[] | readonly number[]

/** The columns whose values identify a row of a result. */
export class KeyColumns {
  readonly #columns: Columns
  /** The last column list that was found to contain all key columns. */
  #checked: readonly string[] | undefined

  constructor(columns: Columns) {
    this.#columns = columns
  }

  /** Throws if the result lacks one of the columns. */
  check(columns: readonly string[]): void {
    if (columns === this.#checked) return
    const isThere = (column: string | number) =>
      typeof column === 'number' ? column < columns.length : columns.includes(column)
    for (const column of this.#columns) {
      if (isThere(column)) continue
      const has = columns.map((column) => JSON.stringify(column)).join(', ')
      throw keyError(`the result has no column ${JSON.stringify(column)}; its columns are ${has}`)
    }
    this.#checked = columns
  }

  /** Returns the key of a row. */
  of(row: Row): RowKey {
    const [first, ...others] = this.#columns
    if (others.length === 0) return single(row[first as string] as ColumnValue)
    return JSON.stringify(this.#columns.map((column) => element(row[column] as ColumnValue)))
  }

  /** Returns the error for two rows with the same key. */
  notUnique(row: Row): ResqliteError {
    const name = (column: string | number) =>
      typeof column === 'number' ? (this.#checked?.[column] ?? column) : column
    const values = this.#columns.map((column) => `${name(column)} = ${show(row[column] as ColumnValue)}`)
    return keyError(`the key is not unique: several rows have ${values.join(', ')}`)
  }
}

/** Returns the key of one value. Text and BLOBs get a prefix, so that no text equals a BLOB. */
function single(value: ColumnValue): RowKey {
  if (typeof value === 'string') return `t${value}`
  return value instanceof Uint8Array ? `b${hex(value)}` : value
}

/**
 * Returns the same for one column of a key of several columns. Such a key becomes JSON, where bigints and infinities do not
 * exist.
 */
function element(value: ColumnValue): string | number | null {
  if (typeof value === 'bigint') return `i${value}`
  if (typeof value === 'number' && !Number.isFinite(value)) return `r${value}`
  return single(value) as string | number | null
}

function show(value: ColumnValue): string {
  if (value instanceof Uint8Array) return `x'${hex(value)}'`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}

function keyError(message: string): ResqliteError {
  return new ResqliteError(`patches: ${message}`, 'RESQLITE_KEY')
}
