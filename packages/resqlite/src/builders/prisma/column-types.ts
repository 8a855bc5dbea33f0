import { type ColumnType, ColumnTypeEnum as Type } from '@prisma/driver-adapter-utils'
import type { Column } from '../../core/query-types'
import type { ColumnValue, RowArray } from '../../core/types'

/** The types that Prisma writes into CREATE TABLE, and those that it reads in other databases. */
const DECLARED = new Map<string, ColumnType>([
  ...named(Type.Int32, 'TINYINT', 'SMALLINT', 'MEDIUMINT', 'INT', 'INTEGER', 'SERIAL', 'INT2'),
  ...named(Type.Int64, 'BIGINT', 'UNSIGNED BIG INT', 'INT8'),
  ...named(Type.Float, 'FLOAT'),
  ...named(Type.Double, 'DOUBLE', 'DOUBLE PRECISION', 'NUMERIC', 'REAL'),
  ...named(Type.Numeric, 'DECIMAL'),
  ...named(Type.Boolean, 'BOOLEAN'),
  ...named(Type.Text, 'TEXT', 'CLOB', 'CHARACTER', 'VARCHAR', 'VARYING CHARACTER'),
  ...named(Type.Text, 'NCHAR', 'NATIVE CHARACTER', 'NVARCHAR'),
  ...named(Type.DateTime, 'DATETIME', 'TIMESTAMP'),
  ...named(Type.Date, 'DATE'),
  ...named(Type.Time, 'TIME'),
  ...named(Type.Json, 'JSONB'),
  ...named(Type.Bytes, 'BLOB'),
])

function named(type: ColumnType, ...names: string[]): [string, ColumnType][] {
  return names.map((name) => [name, type])
}

/**
 * Returns Prisma's type of a column. Its declared type decides, or else, as for expressions, its first value that is not
 * null. Without such a value any type will do.
 */
export function columnType({ type }: Column, index: number, rows: readonly RowArray[]): ColumnType {
  const declared = type === null ? undefined : DECLARED.get(type.toUpperCase())
  if (declared !== undefined) return declared
  for (const row of rows) {
    const value = row[index] as ColumnValue
    if (value !== null) return typeOf(value)
  }
  return Type.Int32
}

function typeOf(value: Exclude<ColumnValue, null>): ColumnType {
  switch (typeof value) {
    case 'string':
      return Type.Text
    case 'bigint':
      return Type.Int64
    case 'number':
      return Type.UnknownNumber
    default:
      return Type.Bytes
  }
}
