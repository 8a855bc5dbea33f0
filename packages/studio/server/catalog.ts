import type { Queryable } from 'resqlite'
import { HttpError } from './http-error.js'
import { MARK } from './own-statements.js'

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  /** Its place in the primary key, from 1; 0 if it is not in it. */
  readonly primary: number
  /** Whether it is computed, so that it cannot be written. */
  readonly generated: boolean
}

export interface Table {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view' | 'virtual'
  readonly columns: readonly TableColumn[]
  /** The columns by which rows are told apart and ordered; none for views and virtual tables. */
  readonly key: readonly string[]
  /** Whether the key is one INTEGER, so that a place in the table can be estimated from it. */
  readonly numeric: boolean
}

interface ListedTable {
  readonly schema: string
  readonly name: string
  readonly type: string
  readonly wr: number
  /** Whether the primary key has an index of its own, so that it is not the rowid. */
  readonly indexed: number
}

const TABLES = `${MARK}SELECT schema, name, type, wr,
    EXISTS (SELECT 1 FROM pragma_index_list(list.name, list.schema) WHERE origin = 'pk') AS indexed
  FROM pragma_table_list AS list
  WHERE schema <> 'temp' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY schema <> 'main', schema, name`

const COLUMNS = `${MARK}SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1`

/** Reads the tables and views of all databases, with their columns. */
export async function readCatalog(db: Queryable): Promise<Table[]> {
  const tables = await db.select<ListedTable>(TABLES)
  return await Promise.all(tables.map((table) => describe(db, table)))
}

/** Finds a table by its names, which come from a page. So no other name gets into SQL. */
export async function findTable(db: Queryable, schema: unknown, name: unknown): Promise<Table> {
  const tables = await db.select<ListedTable>(TABLES)
  const found = tables.find((table) => table.schema === schema && table.name === name)
  if (found === undefined) throw new HttpError(404, 'there is no such table')
  return await describe(db, found)
}

/** A view may be broken: it has no columns then. */
async function describe(db: Queryable, listed: ListedTable): Promise<Table> {
  const { schema, name, type } = listed
  const rows = await db
    .select<{ name: string; type: string; notnull: number; pk: number; hidden: number }>(COLUMNS, [
      name,
      schema,
    ])
    .catch(() => [])
  const columns = rows.map((row) => ({
    name: row.name,
    type: row.type,
    notNull: row.notnull === 1,
    primary: row.pk,
    generated: row.hidden !== 0,
  }))
  const kind = type === 'table' ? 'table' : type === 'view' ? 'view' : 'virtual'
  return { schema, name, kind, columns, ...keyOf(kind, listed, columns) }
}

function keyOf(
  kind: string,
  { wr, indexed }: ListedTable,
  columns: TableColumn[],
): Pick<Table, 'key' | 'numeric'> {
  if (kind !== 'table') return { key: [], numeric: false }
  const primary = columns.filter((column) => column.primary > 0).sort((a, b) => a.primary - b.primary)
  if (wr === 1) return { key: primary.map(({ name }) => name), numeric: false }
  const [first] = primary
  // An INTEGER PRIMARY KEY is the rowid; by its own name live queries know it best. With DESC it is not.
  if (primary.length === 1 && first !== undefined && indexed === 0) {
    return { key: [first.name], numeric: true }
  }
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()))
  const rowid = ['rowid', '_rowid_', 'oid'].find((name) => !taken.has(name))
  return { key: rowid === undefined ? [] : [rowid], numeric: rowid !== undefined }
}
