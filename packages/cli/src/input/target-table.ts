import type { Database, Executor } from 'resqlite'
import { InputError } from '../core/errors.js'
import { foldedName, quoted } from '../core/identifier.js'
import type { Column } from './records.js'
import type { ColumnType } from './types.js'

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
    const advice = 'if the text is UTF-16, convert it: iconv -f UTF-16LE -t UTF-8'
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

/** Creates a table with these columns. */
export async function createTable(
  executor: Executor,
  table: string,
  columns: readonly Column[],
  types: readonly ColumnType[],
): Promise<void> {
  const definitions = columns.map(({ name }, index) => `${quoted(name)} ${types[index]}`)
  await executor.exec(`CREATE TABLE ${quoted(table)}(${definitions.join(', ')})`)
}

/**
 * Returns the statement that inserts one record. A column without a type has two parameters: the value, and whether it is REAL. (A
 * whole number would otherwise be bound as an INTEGER.)
 */
export function insertion(table: string, columns: readonly Column[]): string {
  const written = columns.filter(({ isGenerated }) => !isGenerated)
  let last = 0
  const values = written.map(({ isUntyped }) => {
    const value = `?${++last}`
    return isUntyped ? `CASE ?${++last} WHEN 1 THEN CAST(${value} AS REAL) ELSE ${value} END` : value
  })
  const names = written.map(({ name }) => quoted(name)).join(', ')
  return `INSERT INTO ${quoted(table)}(${names}) VALUES (${values.join(', ')})`
}
