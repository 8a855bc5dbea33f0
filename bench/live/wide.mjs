// The table of the workloads about columns: twenty texts a…t, rows 0…4999.

export const wideRows = 5000
const columns = [...'abcdefghijklmnopqrst']

export async function makeWide(db) {
  await db.exec(
    `CREATE TABLE wide (id INTEGER PRIMARY KEY, ${columns.map((name) => `${name} TEXT`).join(', ')})`,
  )
  const sets = Array.from({ length: wideRows }, (_, id) => [id, ...columns.map((name) => `${name} of ${id}`)])
  await db.executeBatch(`INSERT INTO wide VALUES (?${', ?'.repeat(columns.length)})`, sets)
}

/** One awaited update of one row. */
export const updateWide = (db, column, id, text) =>
  db.execute(`UPDATE wide SET ${column} = ? WHERE id = ?`, [text, id])
