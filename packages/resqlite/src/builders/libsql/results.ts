import type { QueryResult } from '../../core/query-types'
import type { ColumnValue, RowArray } from '../../core/types'
import type { IntMode, ResultSet, Row, Value } from './types'

export class LibsqlResultSet implements ResultSet {
  readonly columns: string[]
  readonly columnTypes: string[]
  readonly rows: Row[]
  readonly rowsAffected: number
  readonly lastInsertRowid: bigint | undefined

  /** `lastID`: the rowid of the row that was inserted last through the client. */
  constructor({ rows, columns, changes }: QueryResult<RowArray>, intMode: IntMode, lastID: bigint) {
    const names = columns.map(({ name }) => name)
    this.columns = names
    this.columnTypes = columns.map(({ type }) => type ?? '')
    this.rows = rows.map((values) => rowOf(values, names, intMode))
    this.rowsAffected = changes
    this.lastInsertRowid = columns.length > 0 && changes === 0 ? undefined : lastID
  }

  toJSON() {
    const { columns, columnTypes, rowsAffected, lastInsertRowid } = this
    return {
      columns,
      columnTypes,
      rows: this.rows.map((row) => Array.prototype.map.call(row, valueToJson)),
      rowsAffected,
      lastInsertRowid: lastInsertRowid === undefined ? null : String(lastInsertRowid),
    }
  }
}

/** The result of a statement that gives no rows and changes nothing. */
export const NOTHING: QueryResult<RowArray> = {
  rows: [],
  columns: [],
  changes: 0,
  lastInsertRowid: 0,
  commit: 0,
}

/**
 * Makes a row. As in `@libsql/client`, its positions are not enumerable, so that it looks like an object with the names only.
 */
function rowOf(values: RowArray, names: readonly string[], intMode: IntMode): Row {
  const row = {} as Row
  Object.defineProperty(row, 'length', { value: values.length })
  for (const [index, stored] of values.entries()) {
    const value = fromSql(stored, intMode)
    Object.defineProperty(row, index, { value })
    const name = names[index] as string
    // An assignment would set the prototype for the name `__proto__`, and would set nothing for a name that is a number.
    if (!Object.hasOwn(row, name)) {
      Object.defineProperty(row, name, { value, enumerable: true, configurable: true, writable: true })
    }
  }
  return row
}

function fromSql(value: ColumnValue, intMode: IntMode): Value {
  if (typeof value === 'bigint') {
    if (intMode === 'bigint') return value
    if (intMode === 'string') return String(value)
    const number = Number(value)
    if (Number.isSafeInteger(number)) return number
    throw new RangeError('Received integer which cannot be safely represented as a JavaScript number')
  }
  return value instanceof Uint8Array ? bufferOf(value) : value
}

/** Returns the bytes of a BLOB. Copies them if they are only a part of the memory of a whole result. */
function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): ArrayBuffer {
  const whole = byteLength === buffer.byteLength
  return (whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength)) as ArrayBuffer
}

function valueToJson(value: Value): unknown {
  if (typeof value === 'bigint') return String(value)
  return value instanceof ArrayBuffer ? Buffer.from(value).toString('base64') : value
}
