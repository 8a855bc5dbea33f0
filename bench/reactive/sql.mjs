// Tables and writes as SQL.
//
// A table: { name, columns: { id: 'INTEGER', … }, unique, indexes: [['created_at DESC', 'id'], …] }. Its key is `id`, the first
// column; `unique` names a column that is unique too.

const list = (items) => items.join(', ')

/** Statements that make a table and its indexes. */
export function createSql({ name, columns, unique, indexes = [] }) {
  const defined = Object.entries(columns).map(
    ([column, type]) =>
      `${column} ${type}${column === 'id' ? ' PRIMARY KEY' : ''}${column === unique ? ' UNIQUE' : ''}`,
  )
  return [
    `CREATE TABLE ${name} (${list(defined)})`,
    ...indexes.map((terms, i) => `CREATE INDEX ${name}_index_${i + 1} ON ${name} (${list(terms)})`),
  ]
}

const insert = ({ name, columns }, rows) => {
  const names = Object.keys(columns)
  const row = `(${list(names.map(() => '?'))})`
  return `INTO ${name} (${list(names)}) VALUES ${list(Array(rows).fill(row))}`
}

const settingOthers = ({ columns, unique }) =>
  list(
    Object.keys(columns)
      .filter((column) => column !== 'id' && column !== unique)
      .map((column) => `${column} = excluded.${column}`),
  )

/** What is the same for SQLite and Postgres. */
const common = {
  insert: ({ table }, rows) => `INSERT ${insert(table, rows)}`,
  update: ({ table, columns }) =>
    `UPDATE ${table.name} SET ${list(columns.map((column) => `${column} = ?`))} WHERE id = ?`,
  increment: ({ table, columns }) =>
    `UPDATE ${table.name} SET ${list(columns.map((column) => `${column} = ${column} + ?`))} WHERE id = ?`,
  trim: ({ table }) => `DELETE FROM ${table.name} WHERE id > ?`,
}

const sqlite = { ...common, replace: ({ table }, rows) => `INSERT OR REPLACE ${insert(table, rows)}` }

const postgres = {
  ...common,
  replace: ({ table }, rows) =>
    `INSERT ${insert(table, rows)} ON CONFLICT (${table.unique}) DO UPDATE SET ${settingOthers(table)}`,
}

/** The statement of a write for SQLite, with `?` for its parameters. */
export const sqliteWrite = (write) => sqlite[write.kind](write, 1)

/** The statement of a write of so many rows for Postgres. */
export const postgresWrite = (write, rows = 1) => numbered(postgres[write.kind](write, rows))

/** Parameters as Postgres has them: `?, ?` → `$1, $2`. There is no `?` in texts or names. */
export function numbered(sql) {
  let last = 0
  return sql.replaceAll('?', () => `$${++last}`)
}
