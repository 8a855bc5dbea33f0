import { sample } from '../measure.mjs'
import { time } from './figure.mjs'
import { each, inTurns } from './turns.mjs'

const rows = 100_000
const sql = 'SELECT id, name, score FROM tasks ORDER BY id'

/** Half of the ids are free. */
const id = (i) => 2 * (1 + ((i * 7919) % rows))
const changes = {
  update: { sql: 'UPDATE tasks SET score = score + 1 WHERE id = ?', id },
  insert: { sql: 'INSERT INTO tasks(id, name, score) VALUES (?1, ?1, ?1)', id: (i) => id(i) + 1 },
  delete: { sql: 'DELETE FROM tasks WHERE id = ?', id: (i) => id(i) + 1 },
}

const forms = {
  fresh: { title: 'an array for each patch', rows: true, iterators: 1 },
  inPlace: { title: 'one array that is changed in place', rows: 'inPlace', iterators: 1 },
  inPlaceTwice: { title: 'two iterators, each with one array', rows: 'inPlace', iterators: 2 },
  none: { title: 'patches only', rows: false, iterators: 1 },
}

/** One row changes in a long list: what its patch costs the main thread, with the array in each form. */
export const inPlace = {
  id: 'live-in-place',
  version: 'v1',
  title: `patches of a live list of ${rows.toLocaleString('en')} rows, one row changed per commit`,
  async measure({ open, rounds, quick }) {
    const db = await open('tasks')
    await db.exec(`
      CREATE TABLE tasks(id INTEGER PRIMARY KEY, name TEXT, score INTEGER);
      INSERT INTO tasks SELECT 2 * value, 'task ' || value, value FROM generate_series(1, ${rows});
    `)
    const ops = quick ? 20 : 100
    const samples = await inTurns(forms, rounds, (form) => changed(db, form, ops))
    return Object.fromEntries(
      Object.entries(samples).flatMap(([name, of]) =>
        Object.keys(changes).map((change) => [
          `${name}-${change}`,
          time(`${change}, ${forms[name].title}: main thread`, each(of, change)),
        ]),
      ),
    )
  },
}

/** No two rounds change the same rows. */
let commits = 0

/** CPU time of the main thread per commit, for each kind of change. Rows that are inserted are deleted again. */
async function changed(db, { rows, iterators }, ops) {
  const live = db.stream(sql)
  const readers = Array.from({ length: iterators }, () => live.patches({ key: 'id', rows }))
  const next = () => Promise.all(readers.map((patches) => patches.next()))
  await next()
  const first = commits
  const times = {}
  for (const [name, { sql, id }] of Object.entries(changes)) {
    commits = first
    const run = async (ops) => {
      for (let i = 0; i < ops; i++) {
        const patches = next()
        await db.execute(sql, [id(commits++)])
        await patches
      }
    }
    await run(2) // at which the engine finds out where rows come from
    times[name] = (await sample({ run }, ops)).cpu
  }
  const patches = next()
  await db.execute(changes.update.sql, [2])
  if (rows !== false) await assertRight(db, await patches)
  for (const patches of readers) await patches.return()
  return times
}

async function assertRight(db, patches) {
  const expected = JSON.stringify(await db.select(sql))
  for (const { value } of patches) if (JSON.stringify(value.rows) !== expected) throw new Error('wrong rows')
}
