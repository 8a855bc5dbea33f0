import type { Database, Query, SqlValue } from 'resqlite'
import { type Cell, cellOf, type SentCell, shownText } from '../cells/cell.js'
import { findTable, type Table } from './catalog.js'
import { type Bound, bind, boundsOf, cellSql, isStill } from './cells.js'
import { HttpError } from './http-error.js'
import { columnOf, keyCompare, keyFrom, sourceOf, valuesOf } from './keys.js'
import { BATCH_EDITS, VALUE_TEXT } from './limits.js'
import { quote } from './names.js'
import { MARK } from './own-statements.js'

/** One staged change, as a page sends it. */
interface Edit {
  readonly schema: unknown
  readonly table: unknown
  readonly kind: unknown
  /** The key of the row, for `update` and `delete`. */
  readonly key?: unknown
  /** New values by column, for `update` and `insert`. */
  readonly set?: unknown
  /** The values that the page has shown, by column: for `update` of each column in `set`, for `delete` of all. */
  readonly old?: unknown
}

/** A value that was changed since the page has shown it. */
interface Conflict {
  readonly old: Cell
  readonly now: Cell
}

/**
 * Makes the check that a statement has changed one row: SQL cannot raise an error outside of triggers, but text that is no JSON
 * is one. Without it, an edit of a row that somebody has changed or deleted would do nothing, and nobody would know.
 */
const ONE_ROW = `${MARK}SELECT CASE changes() WHEN 1 THEN 1 ELSE json('not one row') END`

/** Commits all edits as one batch, or none of them. An error names the edit by its place. `time` bounds finding a table. */
export async function commitEdits(
  db: Database,
  edits: unknown,
  time: number,
): Promise<{ commit: number; changes: number }> {
  if (!Array.isArray(edits) || edits.length === 0 || edits.length > BATCH_EDITS) {
    throw new HttpError(400, `a batch has 1 to ${BATCH_EDITS} edits`)
  }
  const statements: Query[] = []
  const known = new Map<string, Table>()
  const tables: Table[] = []
  for (const edit of edits as readonly Edit[]) {
    if (typeof edit !== 'object' || edit === null) throw new HttpError(400, 'an edit must be an object')
    const name = JSON.stringify([edit.schema, edit.table])
    const table = known.get(name) ?? (await findTable(db, edit.schema, edit.table, time))
    known.set(name, table)
    tables.push(table)
    statements.push(statementOf(table, edit), { sql: ONE_ROW })
  }
  try {
    const results = await db.batch(statements)
    const changes = results.reduce((sum, result) => sum + result.changes, 0)
    return { commit: results[0]?.commit ?? 0, changes }
  } catch (error) {
    const { index } = error as { index?: number }
    if (index === undefined || !(error instanceof Error)) throw error
    const at = index >> 1
    if (index % 2 === 0) throw Object.assign(error, { index: at })
    const { message, conflicts } = await reasonOf(db, tables[at] as Table, edits[at] as Edit)
    throw new HttpError(409, message, { index: at, conflicts })
  }
}

/** Why an edit has not changed one row, as the row is now. */
async function reasonOf(
  db: Database,
  table: Table,
  edit: Edit,
): Promise<{ message: string; conflicts?: Record<string, Conflict> }> {
  const ignored = {
    message: 'the edit has not changed the row: a trigger has ignored it, or changed the row before',
  }
  if (edit.kind === 'insert') return ignored
  const key = keyFrom(table, edit.key)
  const old = oldOf(table, edit)
  const cells = old.map(
    ([name, cell]) =>
      `${cellSql(columnOf(name), boundsOf(cell) ?? { text: VALUE_TEXT, blob: VALUE_TEXT / 2 })}`,
  )
  const sql = `${MARK}SELECT ${[1, ...cells].join(', ')} FROM ${sourceOf(table)} WHERE ${keyCompare(table, '=', key)}`
  const row = await db.selectOne<SentCell[]>(sql, valuesOf(key), { arrays: true })
  if (row === undefined) return { message: 'the row is not there any more' }
  const changed = old.flatMap(([name, cell], i) => {
    const now = cellOf(row[i + 1] as SentCell)
    return now === cell ? [] : [[name, { old: cell, now }] as const]
  })
  const [first] = changed
  if (first !== undefined) {
    const [name, { old: before, now }] = first
    const message = `somebody has changed the row: ${name} was ${shownText(before)} and is ${shownText(now)}`
    return { message, conflicts: Object.fromEntries(changed) }
  }
  const odd = old.find(([, cell]) => cell?.includes('\ufffd'))
  return odd === undefined
    ? ignored
    : {
        message: `the text of ${odd[0]} is not UTF-8, so it cannot be told whether it has changed: edit it with SQL`,
      }
}

function statementOf(table: Table, edit: Edit): Query {
  if (table.key.length === 0) throw new HttpError(400, 'the rows of this table cannot be told apart')
  const target = `${quote(table.schema)}.${quote(table.name)}`
  const { kind } = edit
  if (kind === 'delete') {
    const { sql, params } = rowOf(table, edit)
    return { sql: `DELETE FROM ${target} AS t WHERE ${sql}`, params }
  }
  const values = newValues(table, edit.set)
  const params = values.map(({ value }) => value)
  // ABORT, so that a constraint that says ON CONFLICT REPLACE or IGNORE neither deletes another row nor lets the edit go.
  if (kind === 'insert') {
    const list = values.map(({ name }) => quote(name)).join(', ')
    const marks = values.map(({ mark }) => mark).join(', ')
    const given = values.length === 0 ? ' DEFAULT VALUES' : `(${list}) VALUES (${marks})`
    return { sql: `INSERT OR ABORT INTO ${target}${given}`, params }
  }
  if (kind !== 'update' || values.length === 0)
    throw new HttpError(400, 'an edit updates, inserts or deletes')
  const row = rowOf(table, edit)
  const changes = values.map(({ name, mark }) => `${quote(name)} = ${mark}`).join(', ')
  const sql = `UPDATE OR ABORT ${target} AS t SET ${changes} WHERE ${row.sql}`
  return { sql, params: [...params, ...row.params] }
}

/** The condition that finds the row of an edit, if it still is as the page has shown it. */
function rowOf(table: Table, edit: Edit): { sql: string; params: SqlValue[] } {
  const key = keyFrom(table, edit.key)
  const still = oldOf(table, edit).map(([name, cell]) => isStill(columnOf(name), cell))
  return {
    sql: all([keyCompare(table, '=', key), ...still.map(({ sql }) => sql)]),
    params: [...valuesOf(key), ...still.flatMap(({ params }) => params)],
  }
}

/** All of the conditions, as a tree: SQLite bounds the depth of an expression, and a row may have 2,000 columns. */
function all(conditions: readonly string[]): string {
  if (conditions.length === 1) return conditions[0] as string
  const half = conditions.length >> 1
  return `(${all(conditions.slice(0, half))} AND ${all(conditions.slice(half))})`
}

function oldOf({ columns }: Table, { kind, set, old }: Edit): [name: string, cell: Cell][] {
  const needed = kind === 'update' ? Object.keys(set as object) : []
  if (typeof old !== 'object' || old === null || !needed.every((name) => Object.hasOwn(old, name))) {
    throw new HttpError(400, 'an edit of a row must tell the old values: of an update, those of its columns')
  }
  const known = new Set(columns.map(({ name }) => name))
  const cells: [string, Cell][] = Object.entries(old)
  if (cells.every(([name]) => known.has(name))) return cells
  throw new HttpError(400, 'an edit names an old value of a column that the table does not have')
}

function newValues({ columns }: Table, set: unknown): (Bound & { readonly name: string })[] {
  if (typeof set !== 'object' || set === null) throw new HttpError(400, 'an edit needs values')
  const writable = new Set(columns.filter(({ generated }) => !generated).map(({ name }) => name))
  return Object.entries(set).map(([name, cell]) => {
    if (!writable.has(name)) throw new HttpError(400, 'an edit names a column that cannot be written')
    return { name, ...bind(cell) }
  })
}
