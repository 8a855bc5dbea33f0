import type { Database, Executor } from 'resqlite'
import { InputError } from '../core/errors.js'
import { foldedName, quoted } from '../core/identifier.js'
import type { Column } from './records.js'
import type { ColumnType } from './types.js'

/** The fate of a record whose key the table has already. */
export type Conflict =
  /** The record is left out. */
  | 'ignore'
  /** The row gets the values of the record. The names are those of the primary key. */
  | { readonly update: readonly string[] }

interface ListedColumn {
  readonly name: string
  readonly type: string
  readonly hidden: number
  readonly strict: number
}

/** Returns the columns of a table that `SELECT *` shows; undefined if there is no such table. */
export async function columnsOf(db: Database, table: string): Promise<Column[] | undefined> {
  const rows = await db.select<ListedColumn>(
    `SELECT info.name, info.type, info.hidden, list.strict FROM pragma_table_xinfo(?) AS info
      LEFT JOIN pragma_table_list AS list ON list.schema = 'main' AND list.name = ? COLLATE NOCASE
      WHERE info.hidden <> 1`,
    [table, table],
  )
  const columns = rows.map(({ name, type, hidden, strict }) => {
    return { name, isUntyped: isUntyped(type, strict === 1), isGenerated: hidden !== 0 }
  })
  return columns.length === 0 ? undefined : columns
}

/** Returns whether SQLite stores any value in a column of this type as it is (affinity BLOB, or ANY in a STRICT table). */
function isUntyped(type: string, isStrict: boolean): boolean {
  if (/int|char|clob|text/i.test(type)) return false
  return type === '' || /blob/i.test(type) || (isStrict && /^any$/i.test(type))
}

/**
 * Finds the columns for fields with these names, spelt as in the table. An empty name may mean the name of its place, such as
 * `column1`.
 */
export function matched(
  table: string,
  columns: readonly Column[],
  names: readonly string[],
  line: number,
): Column[] {
  const byName = new Map(columns.map((column) => [foldedName(column.name), column]))
  const found = names.map((name, index) => {
    const short = foldedName(name.trim() || `column${index + 1}`)
    const column = byName.get(foldedName(name)) ?? byName.get(short)
    if (column !== undefined) return column
    const known = columns.map((column) => column.name).join(', ')
    throw new InputError(`${table} has no column ${JSON.stringify(name)}; it has ${known}`, line)
  })
  return different(found, names, line)
}

/** Returns columns of these names for a table that is to be created. */
export function newColumns(names: readonly string[], line: number): Column[] {
  const wrong = names.find((name) => name.includes('\0'))
  if (wrong !== undefined) {
    const advice = 'if the text is UTF-16, give --encoding utf-16le'
    throw new InputError(
      `the name ${JSON.stringify(wrong)} has a NUL character, which no column can; ${advice}`,
      line,
    )
  }
  const columns = names.map((name) => ({ name, isUntyped: false, isGenerated: false }))
  return different(columns, names, line)
}

/** Refuses two names of the same column. */
function different(columns: Column[], names: readonly string[], line: number): Column[] {
  const folded = columns.map(({ name }) => foldedName(name))
  const second = folded.findIndex((name, index) => folded.indexOf(name) < index)
  if (second === -1) return columns
  throw new InputError(`the header has ${JSON.stringify(names[second])} twice`, line)
}

/** Returns the names of the primary key of a table, in its order. */
export async function primaryKeyOf(db: Database, table: string): Promise<string[]> {
  const sql = 'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk'
  return (await db.select<{ name: string }>(sql, [table])).map(({ name }) => name)
}

/** Creates a table with these columns. */
export async function createTable(
  executor: Executor,
  table: string,
  columns: readonly Column[],
  types: readonly ColumnType[],
  primaryKey: readonly string[],
): Promise<void> {
  const key = matched('the input', columns, primaryKey, 1).map(({ name }) => name)
  // SQLite allows NULL in most primary keys, unless it is told otherwise.
  const definitions = columns.map(
    ({ name }, index) => `${quoted(name)} ${types[index]}${key.includes(name) ? ' NOT NULL' : ''}`,
  )
  if (key.length > 0) definitions.push(`PRIMARY KEY(${key.map(quoted).join(', ')})`)
  await executor.exec(`CREATE TABLE ${quoted(table)}(${definitions.join(', ')})`)
}

/**
 * Returns the statement that inserts one record. A column without a type has two parameters: the value, and whether it is REAL. (A
 * whole number would otherwise be bound as an INTEGER.)
 */
export function insertion(table: string, columns: readonly Column[], conflict?: Conflict): string {
  const written = columns.filter(({ isGenerated }) => !isGenerated)
  let last = 0
  const values = written.map(({ isUntyped }) => {
    const value = `?${++last}`
    return isUntyped ? `CASE ?${++last} WHEN 1 THEN CAST(${value} AS REAL) ELSE ${value} END` : value
  })
  const names = written.map(({ name }) => quoted(name)).join(', ')
  return `INSERT INTO ${quoted(table)}(${names}) VALUES (${values.join(', ')})${resolution(conflict, written)}`
}

/** Returns the clause for records whose key the table has already. */
function resolution(conflict: Conflict | undefined, written: readonly Column[]): string {
  if (conflict === undefined) return ''
  if (conflict === 'ignore') return ' ON CONFLICT DO NOTHING'
  const key = conflict.update.map(foldedName)
  const others = written.map(({ name }) => name).filter((name) => !key.includes(foldedName(name)))
  const target = ` ON CONFLICT(${conflict.update.map(quoted).join(', ')}) DO`
  if (others.length === 0) return `${target} NOTHING`
  return `${target} UPDATE SET ${others.map((name) => `${quoted(name)} = excluded.${quoted(name)}`).join(', ')}`
}
