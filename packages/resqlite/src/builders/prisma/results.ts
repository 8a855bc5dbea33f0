import {
  type ColumnType,
  ColumnTypeEnum,
  DriverAdapterError,
  type SqlResultSet,
} from '@prisma/driver-adapter-utils'
import type { Column, QueryResult } from '../../core/query-types'
import type { ColumnValue, RowArray } from '../../core/types'
import { columnType } from './column-types'

/** The result of a query for Prisma. Takes over the rows and changes them. */
export function resultSet({ rows, columns, lastInsertRowid }: QueryResult<RowArray>): SqlResultSet {
  const columnTypes = columns.map((column, index) => columnType(column, index, rows))
  for (const row of rows) {
    for (const [index, value] of row.entries()) {
      if (typeof value !== 'number' && typeof value !== 'bigint') continue
      row[index] = numberFor(columnTypes[index] as ColumnType, value, columns[index] as Column)
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

function dateOf(milliseconds: number | bigint, { name }: Column): string {
  const date = new Date(Number(milliseconds))
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new DriverAdapterError({
    kind: 'InconsistentColumnData',
    cause: `${milliseconds} in column ${JSON.stringify(name)} is not a time in milliseconds since 1970`,
  })
}
