import { summary } from '../summary.mjs'
import { time, times } from './figure.mjs'

const owners = 1000
/** A fifth of the rows is in each result. */
const share = 5
const shapes = {
  byKey: 'SELECT id, name, score FROM tasks WHERE active = 1',
  byIndex: 'SELECT id, name, score FROM tasks WHERE active = 1 ORDER BY score',
  byName: 'SELECT id, name, score FROM tasks WHERE active = 1 ORDER BY name',
  joined: `SELECT tasks.id, tasks.score, owners.name AS owner FROM tasks JOIN owners ON owners.id = tasks.owner
    WHERE active = 1`,
  leftJoined: `SELECT tasks.id, tasks.score, owners.name AS owner FROM tasks LEFT JOIN owners ON owners.id = tasks.owner
    WHERE active = 1`,
}

/**
 * Lists that are maintained, over tables of several sizes: one row is updated per commit, and the patch is awaited
 * without the list. The clock runs from the call of the update.
 */
export const growth = {
  id: 'live-growth',
  version: 'v1',
  title: 'lists of a fifth of a table that grows, one row updated per commit',
  async measure({ open, quick }) {
    const sizes = quick ? [1_000, 10_000, 100_000] : [1_000, 10_000, 100_000, 500_000]
    const figures = {}
    const [small, large] = [10_000, sizes.at(-1)]
    for (const [name, sql] of Object.entries(shapes)) {
      const engine = {}
      for (const size of sizes) {
        const db = await open(`${name}-${size}`)
        await fill(db, size)
        const maintained = await steps(db, sql, size, { maintain: true })
        engine[size] = maintained.engine
        figures[`${name}${size}`] = time(
          `${name}, ${size.toLocaleString('en')} rows: engine`,
          maintained.engine,
        )
        figures[`${name}${size}call`] = time(
          `${name}, ${size.toLocaleString('en')} rows: call → patch`,
          maintained.call,
        )
        if (size !== large) continue
        const whole = await steps(db, sql, size, { maintain: false })
        figures[`${name}Whole`] = time(
          `${name}, ${size.toLocaleString('en')} rows: engine, run as a whole`,
          whole.engine,
        )
      }
      figures[`${name}Growth`] = times(
        `${name}: engine time of ${large.toLocaleString('en')} rows ÷ ${small.toLocaleString('en')}`,
        median(engine[large]) / median(engine[small]),
        { better: 'lower' },
      )
    }
    return figures
  },
}

const median = (values) => summary(values).median

async function fill(db, size) {
  await db.exec(`
    CREATE TABLE owners(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE tasks(id INTEGER PRIMARY KEY, owner INTEGER, score INTEGER, name TEXT, active INTEGER);
    CREATE INDEX by_score ON tasks(score);
    INSERT INTO owners SELECT value, 'owner ' || value FROM generate_series(0, ${owners - 1});
    INSERT INTO tasks SELECT value, value % ${owners}, (value * 7919) % 1000003, 'task ' || value, value % ${share} = 0
    FROM generate_series(1, ${size});
  `)
}

/** Milliseconds of each of some updates, after those in which the engine finds out where rows come from. */
async function steps(db, sql, size, options) {
  const live = db.stream(sql, [], options)
  const patches = live.changes({ key: 'id', rows: false })
  await patches.next()
  const [warm, ops] = [3, options.maintain ? 40 : 5]
  const samples = { engine: [], call: [] }
  for (let i = 0; i < warm + ops; i++) {
    const id = share * (1 + ((i * 7919) % Math.floor(size / share)))
    const start = performance.now()
    const patch = patches.next()
    await db.execute('UPDATE tasks SET score = score + 1 WHERE id = ?', [id])
    const { value } = await patch
    if (i >= warm) {
      samples.call.push(performance.now() - start)
      samples.engine.push(live.stats.lastMicros / 1000)
    }
    if (value.updated.length !== 1 || value.updated[0].row.id !== id) throw new Error(`not row ${id}`)
  }
  const { maintained } = live.stats
  if (options.maintain ? maintained < ops : maintained > 0) throw new Error(`${maintained} maintained`)
  await patches.return()
  return samples
}
