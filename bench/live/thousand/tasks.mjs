// The table, and what is written to it.
import { clock } from './clock.mjs'

export const [owners, categories, states] = [1000, 200, 8]

export async function fill(db, rows) {
  await db.exec(`
    CREATE TABLE owners(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE tasks(
      id INTEGER PRIMARY KEY, owner INTEGER, category INTEGER, state INTEGER, score INTEGER, name TEXT, active INTEGER
    );
    INSERT INTO owners SELECT value, 'owner ' || value FROM generate_series(0, ${owners - 1});
    INSERT INTO tasks SELECT value, value % ${owners}, value * 7 % ${categories}, value * 13 % ${states},
      (value * 7919) % 1000003, 'task ' || value, value % 5 = 0
    FROM generate_series(1, ${rows});
    CREATE INDEX tasks_by_owner ON tasks(owner);
    CREATE INDEX tasks_by_category ON tasks(category);
  `)
}

export const ownerOf = (id) => id % owners
export const categoryOf = (id) => (id * 7) % categories

const change = 'UPDATE tasks SET score = score + 1, active = 1 - active WHERE id = ?'

/** Changes a row. Resolves with the commit, and when the call was made and answered. */
export async function changeRow(db, id) {
  const called = clock()
  const { commit } = await db.execute(change, [id])
  return { id, commit, called, answered: clock() }
}
