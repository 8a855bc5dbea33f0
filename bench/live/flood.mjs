import { random } from '../random.mjs'
import { countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { count, rate, time } from './figure.mjs'
import { each } from './turns.mjs'

const seed = 0x1f100d
const atOnce = 64
const share = 5

/** The window does not show every change, so nothing is awaited of it. */
const queries = [
  'SELECT id, name, score FROM tasks WHERE active = 1 ORDER BY id',
  'SELECT id, name, score FROM tasks WHERE active = 1 ORDER BY score DESC, id LIMIT 50',
  'SELECT count(*) AS n, sum(score) AS total FROM tasks WHERE active = 1',
  'SELECT owner, count(*) AS n, sum(score) AS total FROM tasks GROUP BY owner ORDER BY owner',
]

/** Commits come faster than the state settles between them. A result that cannot be maintained then is read as a whole. */
export const flood = {
  id: 'live-flood',
  version: 'v1',
  title: `four live queries of a large table, beside a writer with ${atOnce} writes always under way`,
  async measure({ open, quick, rounds }) {
    const [rows, seconds] = quick ? [50_000, 1] : [200_000, 2]
    const db = await open('tasks')
    await fill(db, rows)
    const shown = queries.map((sql) => new Shown(db, sql))
    for (const live of shown) await live.shows(0)
    const pick = random(seed)
    const samples = []
    for (let round = 0; round <= Math.min(rounds, 3); round++) {
      const sample = await run(db, shown, { rows, seconds, pick })
      if (round > 0) samples.push(sample)
    }
    await assertRight(db, shown)
    return {
      maintained: count('share of re-runs that were maintained', each(samples, 'maintained'), {
        better: 'higher',
      }),
      median: time('commit → value of the query that is last, median', each(samples, 'median')),
      p99: time('commit → value of the query that is last, 99th percentile', each(samples, 'p99')),
      values: rate('values per second', each(samples, 'values')),
      writes: rate('writes per second', each(samples, 'writes')),
    }
  },
}

async function fill(db, rows) {
  await db.exec(`
    CREATE TABLE tasks(id INTEGER PRIMARY KEY, owner INTEGER, score INTEGER, name TEXT, active INTEGER);
    INSERT INTO tasks SELECT value, value % 500, (value * 7919) % 1000003, 'task ' || value, value % ${share} = 0
    FROM generate_series(1, ${rows});
  `)
}

/** A live query, and who waits until it shows a commit. */
class Shown {
  rows
  #commit = 0
  #waiting = []

  constructor(db, sql) {
    this.sql = sql
    db.stream(sql).subscribe((rows, { commit }) => {
      this.rows = rows
      this.#commit = commit
      const isShown = (waiting) => waiting.commit <= commit
      for (const { resolve } of this.#waiting.filter(isShown)) resolve()
      this.#waiting = this.#waiting.filter((waiting) => !isShown(waiting))
    })
  }

  shows(commit) {
    if (this.rows !== undefined && commit <= this.#commit) return
    return new Promise((resolve) => this.#waiting.push({ commit, resolve }))
  }
}

async function run(db, shown, { rows, seconds, pick }) {
  await emptyLog(db)
  await quiet(db)
  const before = await counters(db)
  const start = performance.now()
  const end = start + 1000 * seconds
  const awaited = shown.filter(({ sql }) => !sql.includes('LIMIT'))
  const delays = []
  const noted = []
  let writes = 0
  const write = async () => {
    while (performance.now() < end) {
      const id = share * (1 + pick(rows / share))
      const { commit } = await db.execute('UPDATE tasks SET score = score + 1 WHERE id = ?', [id])
      if (writes++ % 50 === 0) noted.push(note(commit))
    }
  }
  const note = async (commit) => {
    const committed = performance.now()
    await Promise.all(awaited.map((live) => live.shows(commit)))
    delays.push(performance.now() - committed)
  }
  await Promise.all(Array.from({ length: atOnce }, write))
  const elapsed = performance.now() - start
  const { reruns, maintained, emitted } = await countedSince(db, before)
  await Promise.all(noted)
  delays.sort((a, b) => a - b)
  const at = (q) => delays[Math.ceil(delays.length * q) - 1]
  return {
    maintained: maintained / reruns,
    median: at(0.5),
    p99: at(0.99),
    values: (1000 * emitted) / elapsed,
    writes: (1000 * writes) / elapsed,
  }
}

async function assertRight(db, shown) {
  await quiet(db)
  for (const { rows, sql } of shown) {
    if (JSON.stringify(rows) !== JSON.stringify(await db.select(sql)))
      throw new Error(`not up to date: ${sql}`)
  }
}
