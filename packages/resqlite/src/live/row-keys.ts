import { ResqliteError } from '../core/errors'
import type { ColumnValue, Row } from '../core/types'

/** What tells rows apart: values of `===` for equal keys. */
export type RowKey = string | number | bigint | null

/** The columns that tell the rows of a result apart. */
export class KeyColumns {
  readonly #columns: readonly string[]
  /** The column list that was last found to have them all. */
  #checked: readonly string[] | undefined

  constructor(columns: readonly string[]) {
    this.#columns = columns
  }

  /** Refuses a result that lacks one of the columns. */
  check(columns: readonly string[]): void {
    if (columns === this.#checked) return
    const missing = this.#columns.find((column) => !columns.includes(column))
    if (missing !== undefined) {
      const has = columns.map((column) => JSON.stringify(column)).join(', ')
      throw keyError(`the result has no column ${JSON.stringify(missing)}; its columns are ${has}`)
    }
    this.#checked = columns
  }

  /** The key of a row. */
  of(row: Row): RowKey {
    const [first, ...others] = this.#columns
    if (others.length === 0) return single(row[first as string] as ColumnValue)
    return JSON.stringify(this.#columns.map((column) => part(row[column] as ColumnValue)))
  }

  /** The error for two rows with one key. */
  notUnique(row: Row): ResqliteError {
    const values = this.#columns.map((column) => `${column} = ${show(row[column] as ColumnValue)}`)
    return keyError(`the key is not unique: several rows have ${values.join(', ')}`)
  }
}

/** Text and blobs are marked, so that no text is taken for a blob. */
function single(value: ColumnValue): RowKey {
  if (typeof value === 'string') return `t${value}`
  return value instanceof Uint8Array ? `b${hex(value)}` : value
}

/** The same for what stands in JSON, which knows neither bigints nor infinity. */
function part(value: ColumnValue): string | number | null {
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
  return new ResqliteError(`changes: ${message}`, 'RESQLITE_KEY')
}
