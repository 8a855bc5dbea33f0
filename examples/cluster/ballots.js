// Ballots are written all the time, and a trigger counts them. Each is written once, so that one that is missing or there
// twice shows.

import { prepare as prepareDishes, ranking } from '../live-page/dishes.js'

export { ranking, vote } from '../live-page/dishes.js'

/** Makes the tables, unless another node has. */
export async function prepare(db) {
  // Where others write all the time, a transaction that finds nothing to do is overtaken again and again.
  if (await db.selectOne("SELECT 1 FROM sqlite_schema WHERE name = 'count_ballot'")) return
  await prepareDishes(db)
  await db.exec(`
    CREATE TABLE IF NOT EXISTS ballots (id INTEGER PRIMARY KEY, ballot TEXT NOT NULL, dish INTEGER NOT NULL);
    CREATE TRIGGER IF NOT EXISTS count_ballot AFTER INSERT ON ballots BEGIN
      UPDATE dishes SET votes = votes + 1 WHERE id = new.dish;
    END
  `)
}

const cast = 'INSERT INTO ballots(ballot, dish) VALUES (?, ?)'

/** A ballot for any dish; the first ones are liked better. */
export async function castAny(db, ballot) {
  await db.execute(cast, [ballot, 1 + Math.floor(Math.random() ** 2 * 7)])
}

/** A ballot for the dish that has the fewest votes, whatever others write meanwhile. */
export async function castForLast(db, ballot) {
  await db.transaction(async (tx) => {
    const dishes = await tx.select(ranking)
    await tx.execute(cast, [ballot, dishes.at(-1).id])
  })
}
