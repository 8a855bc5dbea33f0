import type { Database, Transaction } from 'resqlite'
import { foldedName, quoted } from '../core/identifier.js'
import type { ColumnType } from './types.js'

/** The columns of a table that can be written to; undefined if there is no such table. */
export async function columnsOf(db: Database, table: string): Promise<string[] | undefined> {
  const rows = await db.select<{ name: string; hidden: number }>(
    'SELECT name, hidden FROM pragma_table_xinfo(?)',
    [table],
  )
  return rows.length === 0 ? undefined : rows.filter(({ hidden }) => hidden === 0).map(({ name }) => name)
}

/** Finds the columns that the fields of an input are for, as the table spells them. */
export function matched(table: string, columns: readonly string[], names: readonly string[]): string[] {
  const byName = new Map(columns.map((column) => [foldedName(column), column]))
  return names.map((name) => {
    const column = byName.get(foldedName(name))
    if (column !== undefined) return column
    throw new Error(`${table} has no column ${JSON.stringify(name)}; it has ${columns.join(', ')}`)
  })
}

/** Creates a table with these columns. */
export async function createTable(
  tx: Transaction,
  table: string,
  columns: readonly string[],
  types: readonly ColumnType[],
): Promise<void> {
  const definitions = columns.map((column, index) => `${quoted(column)} ${types[index]}`)
  await tx.exec(`CREATE TABLE ${quoted(table)}(${definitions.join(', ')})`)
}

/** The statement that inserts one record. */
export function insertion(table: string, columns: readonly string[]): string {
  const names = columns.map(quoted).join(', ')
  return `INSERT INTO ${quoted(table)}(${names}) VALUES (${columns.map(() => '?').join(', ')})`
}
