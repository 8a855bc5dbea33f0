import type { Database } from 'resqlite'
import { UsageError } from '../core/errors.js'
import { foldedName } from '../core/identifier.js'

/** A column of a result, as `describe` returns it. */
type Column = Awaited<ReturnType<Database['describe']>>['columns'][number]

/**
 * Returns the places of the columns that identify the rows of a result: the columns that are asked for, or else the primary key of
 * the table, if all columns come from one table. Undefined if there are none.
 */
export async function keyOf(
  db: Database,
  columns: readonly Column[],
  asked: readonly string[] | undefined,
): Promise<number[] | undefined> {
  if (asked !== undefined) return asked.map((name) => placeOf(columns, name))
  const source = columns.find(({ table }) => table !== null)
  const oneTable = columns.every(
    (column) => column.table === source?.table && column.database === source?.database,
  )
  if (source?.table == null || !oneTable) return undefined
  const rows = await db.select<{ name: string }>(
    'SELECT name FROM pragma_table_info(?, ?) WHERE pk > 0 ORDER BY pk',
    [source.table, source.database],
  )
  const places = rows.map(({ name }) => columns.findIndex(({ column }) => column === name))
  return places.length === 0 || places.includes(-1) ? undefined : places
}

function placeOf(columns: readonly Column[], name: string): number {
  const place = columns.findIndex((column) => foldedName(column.name) === foldedName(name))
  if (place !== -1) return place
  const names = columns.map((column) => column.name).join(', ')
  throw new UsageError(`--key: the result has no column ${JSON.stringify(name)}; it has ${names}`)
}
