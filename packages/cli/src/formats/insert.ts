import type { ColumnValue } from 'resqlite'
import { quoted } from '../core/identifier.js'
import { blobLiteral, numberText } from '../core/values.js'
import type { RowValues } from './row-writer.js'

/** Returns a function that turns a row into an INSERT. */
export function inserting(table: string, names: readonly string[]): (values: RowValues) => string {
  const head = `INSERT INTO ${quoted(table)}(${names.map(quoted).join(', ')}) VALUES (`
  return (values) => `${head}${values.map(literal).join(', ')});`
}

/** Returns a value as SQL. A script has control characters as bytes, because a terminal would act on them, and SQL ends at NUL. */
function literal(value: ColumnValue): string {
  if (value === null) return 'NULL'
  if (value instanceof Uint8Array) return blobLiteral(value)
  if (typeof value !== 'string') return numberText(value)
  if (/[\p{Cc}\p{Cf}]/u.test(value.replaceAll('\n', '')))
    return `CAST(${blobLiteral(Buffer.from(value))} AS TEXT)`
  return `'${value.replaceAll("'", "''")}'`
}
