import type { Database, Query, SqlValue } from 'resqlite'
import { findTable, type Table } from './catalog.js'
import { decodeCell, markOf } from './cells.js'
import { keyFrom } from './grid.js'
import { HttpError } from './http-error.js'
import { BATCH_EDITS } from './limits.js'
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
}

/**
 * Makes the check that a statement has changed one row: SQL cannot raise an error outside of triggers, but text that is no JSON
 * is one. Without it, an edit of a row that somebody has deleted would do nothing, and nobody would know.
 */
const ONE_ROW = `${MARK}SELECT CASE changes() WHEN 1 THEN 1 ELSE json('not one row') END`

/** Commits all edits as one batch, or none of them. An error names the edit by its place. */
export async function commitEdits(
  db: Database,
  edits: unknown,
): Promise<{ commit: number; changes: number }> {
  if (!Array.isArray(edits) || edits.length === 0 || edits.length > BATCH_EDITS) {
    throw new HttpError(400, `a batch has 1 to ${BATCH_EDITS} edits`)
  }
  const statements: Query[] = []
  const tables = new Map<string, Table>()
  for (const edit of edits as readonly Edit[]) {
    if (typeof edit !== 'object' || edit === null) throw new HttpError(400, 'an edit must be an object')
    const name = JSON.stringify([edit.schema, edit.table])
    const table = tables.get(name) ?? (await findTable(db, edit.schema, edit.table))
    tables.set(name, table)
    statements.push(statementOf(table, edit), { sql: ONE_ROW })
  }
  try {
    const results = await db.batch(statements)
    const changes = results.reduce((sum, result) => sum + result.changes, 0)
    return { commit: results[0]?.commit ?? 0, changes }
  } catch (error) {
    throw named(error)
  }
}

function named(error: unknown): unknown {
  const { index } = error as { index?: number }
  if (index === undefined || !(error instanceof Error)) return error
  if (index % 2 === 1) error.message = 'the row is not there any more'
  return Object.assign(error, { index: index >> 1 })
}

function statementOf(table: Table, { kind, key, set }: Edit): Query {
  if (table.key.length === 0) throw new HttpError(400, 'the rows of this table cannot be told apart')
  const target = `${quote(table.schema)}.${quote(table.name)}`
  if (kind === 'delete') {
    return { sql: `DELETE FROM ${target} WHERE ${condition(table)}`, params: keyFrom(table, key) }
  }
  const values = valuesOf(table, set)
  const params = values.map(({ value }) => value)
  if (kind === 'insert') {
    const list = values.map(({ name }) => quote(name)).join(', ')
    const marks = values.map(({ mark }) => mark).join(', ')
    const sql = `INSERT INTO ${target}(${list}) VALUES (${marks})`
    return values.length === 0 ? { sql: `INSERT INTO ${target} DEFAULT VALUES` } : { sql, params }
  }
  if (kind !== 'update' || values.length === 0)
    throw new HttpError(400, 'an edit updates, inserts or deletes')
  const changes = values.map(({ name, mark }) => `${quote(name)} = ${mark}`).join(', ')
  return {
    sql: `UPDATE ${target} SET ${changes} WHERE ${condition(table)}`,
    params: [...params, ...keyFrom(table, key)],
  }
}

function condition({ key }: Table): string {
  return key.map((name) => `${quote(name)} = ?`).join(' AND ')
}

interface NewValue {
  readonly name: string
  readonly value: SqlValue
  /** What stands for the value in a statement. */
  readonly mark: string
}

function valuesOf({ columns }: Table, set: unknown): NewValue[] {
  if (typeof set !== 'object' || set === null) throw new HttpError(400, 'an edit needs values')
  const writable = new Set(columns.filter(({ generated }) => !generated).map(({ name }) => name))
  return Object.entries(set).map(([name, cell]) => {
    if (!writable.has(name)) throw new HttpError(400, 'an edit names a column that cannot be written')
    return { name, value: decodeCell(cell), mark: markOf(cell) }
  })
}
