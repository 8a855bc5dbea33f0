import type { Queryable } from 'resqlite'
import { HttpError } from './http-error.js'
import { quote } from './names.js'
import { MARK } from './own-statements.js'

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  /** Its place in the primary key, from 1; 0 if it is not in it. */
  readonly primary: number
  /** True if the column is generated, so that it cannot be written. */
  readonly generated: boolean
}

export interface Table {
  readonly schema: string
  readonly name: string
  readonly kind: 'table' | 'view' | 'virtual'
  /** In the list of all tables, a view has none: see {@link findTable}. */
  readonly columns: readonly TableColumn[]
  /** The columns by which rows are told apart and ordered; none for views and virtual tables. */
  readonly key: readonly string[]
  /** The collations with which the index of the key compares them; none for a rowid. */
  readonly collations: readonly string[]
  /** True if the key is one INTEGER, so that a place in the table can be estimated from it. */
  readonly numeric: boolean
}

interface ListedTable {
  readonly schema: string
  readonly name: string
  readonly kind: Table['kind']
  /** Of a virtual table, the text that made it. */
  readonly sql: string | null
}

const SCHEMAS = `${MARK}SELECT name FROM pragma_database_list WHERE name <> 'temp' ORDER BY name <> 'main', name`

const COLUMNS = `${MARK}SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1`

/** The columns of the index of the primary key: -1 is the rowid, which a table WITHOUT ROWID does not have. */
const KEY = `${MARK}SELECT x.cid, x.name, x.coll, x.key FROM pragma_index_list(?1, ?2) AS list, pragma_index_xinfo(list.name, ?2) AS x
  WHERE list.origin = 'pk' ORDER BY x.seqno`

/** The tables in which a virtual table keeps its content, by the module and what follows the name. */
const SHADOWS: readonly (readonly [module: RegExp, names: readonly string[]])[] = [
  [/^fts5$/i, ['data', 'idx', 'content', 'docsize', 'config']],
  [/^fts[34]$/i, ['content', 'segments', 'segdir', 'docsize', 'stat']],
  [/^(?:rtree|rtree_i32|geopoly)$/i, ['node', 'rowid', 'parent']],
]

/**
 * Reads the tables and views of all databases. It must not use `PRAGMA table_list`, nor ask for the columns of views: that
 * prepares each view, and views that read each other twice take for ever.
 */
export async function readCatalog(db: Queryable): Promise<Table[]> {
  const schemas = await db.select<{ name: string }>(SCHEMAS)
  const listed = await Promise.all(schemas.map(({ name }) => list(db, name)))
  return await Promise.all(
    listed.flatMap((tables) => {
      const shadows = new Set(tables.flatMap(shadowsOf))
      return tables
        .filter(({ name }) => !shadows.has(name.toLowerCase()))
        .map((table) => describe(db, table, table.kind === 'view' ? [] : undefined))
    }),
  )
}

/** Finds a table by its names, which come from a page. So no other name gets into SQL. */
export async function findTable(db: Queryable, schema: unknown, name: unknown, time: number): Promise<Table> {
  const schemas = await db.select<{ name: string }>(SCHEMAS)
  const isKnown = typeof name === 'string' && schemas.some((known) => known.name === schema)
  const [found] = isKnown ? await list(db, schema as string, name) : []
  if (found === undefined) throw new HttpError(404, 'there is no such table')
  return await describe(db, found, undefined, time)
}

async function list(db: Queryable, schema: string, name?: string): Promise<ListedTable[]> {
  const sql = `${MARK}SELECT name, sql, CASE WHEN type = 'view' THEN 'view' WHEN rootpage = 0 THEN 'virtual' ELSE 'table' END AS kind
    FROM ${quote(schema)}.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    ${name === undefined ? 'ORDER BY name' : 'AND name = ?'}`
  const tables = await db.select<Omit<ListedTable, 'schema'>>(sql, name === undefined ? [] : [name])
  return tables.map((table) => ({ ...table, schema }))
}

function shadowsOf({ kind, name, sql }: ListedTable): string[] {
  if (kind !== 'virtual') return []
  const module = /\busing\s+["'`[]?(\w+)/i.exec(sql ?? '')?.[1] ?? ''
  const names = SHADOWS.find(([known]) => known.test(module))?.[1] ?? []
  return names.map((suffix) => `${name}_${suffix}`.toLowerCase())
}

/** `known`: its columns, where they are known. A virtual table may be broken, which is told when its rows are read. */
async function describe(
  db: Queryable,
  { schema, name, kind }: ListedTable,
  known?: readonly TableColumn[],
  time?: number,
): Promise<Table> {
  const columns = known ?? (await readColumns(db, schema, name, kind, time))
  return { schema, name, kind, columns, ...(await keyOf(db, schema, name, kind, columns)) }
}

async function readColumns(
  db: Queryable,
  schema: string,
  name: string,
  kind: Table['kind'],
  time: number | undefined,
): Promise<TableColumn[]> {
  const read = db.select<{ name: string; type: string; notnull: unknown; pk: unknown; hidden: unknown }>(
    COLUMNS,
    [name, schema],
    time === undefined ? {} : { limits: { time } },
  )
  const rows = await (kind === 'virtual' ? read.catch(() => []) : read.catch(tooLong))
  // A database that gives INTEGERs as bigints does so here, too.
  return rows.map((row) => ({
    name: row.name,
    type: row.type,
    notNull: Number(row.notnull) === 1,
    primary: Number(row.pk),
    generated: Number(row.hidden) !== 0,
  }))
}

function tooLong(error: unknown): never {
  if ((error as { code?: string }).code !== 'RESQLITE_LIMIT') throw error
  throw new HttpError(403, 'the columns of the view take too long to find')
}

async function keyOf(
  db: Queryable,
  schema: string,
  name: string,
  kind: string,
  columns: readonly TableColumn[],
): Promise<Pick<Table, 'key' | 'collations' | 'numeric'>> {
  if (kind !== 'table') return { key: [], collations: [], numeric: false }
  const index = await db.select<{ cid: unknown; name: string; coll: string; key: unknown }>(KEY, [
    name,
    schema,
  ])
  const hasRowid = index.length === 0 || index.some(({ cid }) => Number(cid) === -1)
  if (!hasRowid) {
    const key = index.filter((column) => Number(column.key) === 1)
    return { key: key.map((column) => column.name), collations: key.map(({ coll }) => coll), numeric: false }
  }
  const primary = columns.filter((column) => column.primary > 0)
  const [first] = primary
  // An INTEGER PRIMARY KEY is the rowid; by its own name live queries know it best. With DESC it has an index, and is not.
  if (primary.length === 1 && first !== undefined && index.length === 0) {
    return { key: [first.name], collations: [], numeric: true }
  }
  const taken = new Set(columns.map((column) => column.name.toLowerCase()))
  const rowid = ['rowid', '_rowid_', 'oid'].find((one) => !taken.has(one))
  return { key: rowid === undefined ? [] : [rowid], collations: [], numeric: rowid !== undefined }
}
