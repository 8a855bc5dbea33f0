/** The content of the page: the dishes, the most wanted first. */
export const ranking = 'SELECT id, name, votes FROM dishes ORDER BY votes DESC, id'

const menu = ['Pizza', 'Lasagne', 'Falafel', 'Ramen', 'Rösti', 'Tacos', 'Pierogi']

/** Makes the table with some dishes, unless the database has it already. */
export async function prepare(db) {
  await db.transaction(async (tx) => {
    await tx.exec(`
      CREATE TABLE IF NOT EXISTS dishes (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        votes INTEGER NOT NULL DEFAULT 0
      )
    `)
    const { dishes } = await tx.selectOne('SELECT count(*) AS dishes FROM dishes')
    if (dishes > 0) return
    await tx.executeBatch(
      'INSERT INTO dishes(name) VALUES (?)',
      menu.map((name) => [name]),
    )
  })
}

/** Adds a dish. Resolves to its id, or to undefined when there is one of this name. */
export async function add(db, name) {
  const sql = 'INSERT INTO dishes(name) VALUES (?) ON CONFLICT DO NOTHING RETURNING id'
  const { rows } = await db.execute(sql, [name])
  return rows[0]?.id
}

/** One vote more. Resolves to whether there is such a dish. */
export async function vote(db, id) {
  const { changes } = await db.execute('UPDATE dishes SET votes = votes + 1 WHERE id = ?', [id])
  return changes === 1
}

/** Takes a dish off the list. Resolves to whether there was such a dish. */
export async function remove(db, id) {
  const { changes } = await db.execute('DELETE FROM dishes WHERE id = ?', [id])
  return changes === 1
}
