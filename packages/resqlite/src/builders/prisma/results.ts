import {
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils'
import type { Column, QueryResult } from '../../core/query-types'
import type { ColumnValue, RowArray } from '../../core/types'
import { columnType } from './column-types'

/** Returns the result of a query in the form that Prisma needs. Takes over the rows and changes them. */
export function resultSet({ rows, columns, lastInsertRowid }: QueryResult<RowArray>): SqlResultSet {
  const columnTypes = columns.map((column, index) => columnType(column, index, rows))
  for (const row of rows) {
    for (const [index, value] of row.entries()) {
      const type = columnTypes[index] as ColumnType
      if (typeof value === 'number' || typeof value === 'bigint') {
        row[index] = numberFor(type, value, columns[index] as Column)
      } else if (typeof value === 'string' && type === ColumnTypeEnum.DateTime) {
        row[index] = dateOfText(value, columns[index] as Column)
      }
    }
  }
  return {
    columnNames: columns.map(({ name }) => name),
    columnTypes,
    rows,
    ...(lastInsertRowid === 0n ? {} : { lastInsertId: String(lastInsertRowid) }),
  }
}

function numberFor(type: ColumnType, value: number | bigint, column: Column): ColumnValue {
  if (type === ColumnTypeEnum.DateTime) return dateOf(value, column)
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  const whole = type === ColumnTypeEnum.Int32 || type === ColumnTypeEnum.Int64
  return whole ? Math.trunc(value) : value
}

function dateOf(milliseconds: number | bigint, column: Column): string {
  const date = new Date(Number(milliseconds))
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw noTime(milliseconds, column, 'in milliseconds since 1970')
}

/** Times as Prisma writes them. */
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/
const DATE = /(?<year>\d{4}|[+-]\d{6})(?:-(?<month>\d\d)(?:-(?<day>\d\d))?)?/
const TIME =
  /(?<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(?:Z|UTC|GMT|(?<hours>[+-]\d\d)(?::?(?<minutes>\d\d))?)?/
/** Times as Prisma's adapters read them, SQLite's functions return them, and Prisma's migrations write defaults. */
const LOOSE = new RegExp(`^(?:${DATE.source})?(?:(?:^|T|\\s+)${TIME.source})?$`, 'i')

/** Writes a time as Prisma does. Prisma would read other forms as invalid dates, or in the time zone of the process. */
function dateOfText(text: string, column: Column): string {
  if (ISO.test(text) && !Number.isNaN(Date.parse(text))) return text
  const parts = text.trim() === '' ? undefined : LOOSE.exec(text.trim())?.groups
  const { year = '1970', month = '01', day = '01', time = '00:00', hours, minutes = '00' } = parts ?? {}
  const zone = hours === undefined ? 'Z' : `${hours}:${minutes}`
  const date = new Date(`${year}-${month}-${day}T${time}${zone}`)
  if (parts !== undefined && !Number.isNaN(date.getTime())) return date.toISOString()
  throw noTime(JSON.stringify(text), column, 'such as "2026-01-31T12:00:00.000Z"')
}

function noTime(value: unknown, { name }: Column, expected: string): DriverAdapterError {
  return new DriverAdapterError({
    kind: 'InconsistentColumnData',
    cause: `${value} in column ${JSON.stringify(name)} is not a time ${expected}`,
  })
}
