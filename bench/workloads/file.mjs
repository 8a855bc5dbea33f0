import Database from 'better-sqlite3'

/**
 * Makes a WAL database. `schema`: a script; `tables`: name → its rows as lists of all columns' values; `after`: a script
 * that runs when they are in.
 */
export function makeFile(file, schema, tables = {}, after = '') {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = OFF')
  db.exec(schema)
  db.transaction(() => {
    for (const [table, rows] of Object.entries(tables)) fill(db, table, rows)
  })()
  db.exec(after)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}

function fill(db, table, rows) {
  const width = db.pragma(`table_info(${table})`).length
  const insert = db.prepare(`INSERT INTO ${table} VALUES (${Array(width).fill('?')})`)
  for (const row of rows) insert.run(...row)
}

/** `make(1)` … `make(count)`. */
export const numbered = (count, make) => Array.from({ length: count }, (_, i) => make(i + 1))
