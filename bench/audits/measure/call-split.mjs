import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Watch } from '../../live/watch.mjs'
import { checkMeter, sample } from '../../measure.mjs'
import { Database } from '../../peers/resqlite.mjs'
import { assertRows, insertSql, parameterSets, seed } from '../../shapes.mjs'
import { loadProfile } from '../build.mjs'
import { Collections } from '../collections.mjs'

const profile = loadProfile()
const shape = 'mixed'
const rows = 10_000
const query = `SELECT * FROM ${shape} WHERE id <= ?`

/** Calls that are awaited one by one, and what each of them is made of. */
const calls = {
  'point query': {
    calls: 1000,
    reads: 1,
    run: (db, i) => db.selectOne(`SELECT * FROM ${shape} WHERE id = ?`, [key(i)]),
  },
  'select 1,000 × 6': { calls: 100, reads: 1, run: (db) => db.select(query, [1000]) },
  'select 10,000 × 6': { calls: 20, reads: 1, run: (db) => db.select(query, [rows]) },
  '8 × select 10,000 × 6': {
    calls: 4,
    reads: 8,
    run: (db) => Promise.all(Array.from({ length: 8 }, () => db.select(query, [rows]))),
  },
  'JSON bytes, 1,000 × 6': { calls: 500, reads: 1, run: (db) => db.selectBytes(query, [1000]) },
  'JSON bytes, 1,000 × 6, mostly text': {
    calls: 500,
    reads: 1,
    run: (db) => db.selectBytes('SELECT * FROM text.items'),
  },
  insert: { calls: 1000, writes: 1, run: (db, i) => db.execute(insertSql(shape), sets[i % sets.length]) },
  'insert → value of a live count': { calls: 300, writes: 1, live: true, run: insertAndSee },
}
const sets = parameterSets(shape, 64)
const key = (i) => ((i * 7919) % rows) + 1

export async function measure({ quick, dir }) {
  await checkMeter()
  const [file, text] = [join(dir, 'calls.db'), join(dir, 'text.db')]
  seed(file, shape, rows)
  seed(text, 'items', 1000)
  const db = await Database.open(file)
  await db.execute('ATTACH ? AS text', [text])
  assertRows(shape, await db.select(query, [1000]), 1000)
  const rounds = quick ? 3 : 15
  const measured = Object.keys(calls).map((name) => ({ name, calls: calls[name].calls, rounds: [] }))
  for (let round = 0; round <= rounds; round++) {
    for (const { name, rounds: samples } of measured) {
      const sampled = await one(db, calls[name])
      if (round > 0) samples.push(sampled)
    }
  }
  await db.close()
  return { calls: measured }
}

/** Milliseconds and counters of one round. */
async function one(db, { calls, reads = 0, writes = 0, live, run }) {
  const context = live ? await watching(db) : {}
  await sleep(5) // engine threads count when they are done, which is after the answer
  profile.reset()
  const task = {
    run: async (ops) => {
      for (let i = 0; i < ops; i++) await run(db, i, context)
    },
  }
  const collections = new Collections()
  const { wall, main } = await sample(task, calls)
  await sleep(5)
  const collected = collections.stop()
  const counters = profile.snapshot()
  context.watch?.stop()
  if (counters.readerRequestCount < reads * calls || counters.writerRequestCount < writes * calls)
    throw new Error(
      `${counters.readerRequestCount} reads and ${counters.writerRequestCount} writes were counted`,
    )
  return { wall: wall * calls, main: main * calls, counters, collected }
}

/** A table of its own that stays small: counting it again must not be what is measured. */
async function watching(db) {
  await db.exec('CREATE TABLE IF NOT EXISTS counted (id INTEGER PRIMARY KEY, n INTEGER); DELETE FROM counted')
  const watch = new Watch(db.stream('SELECT count(*) AS n FROM counted'))
  await watch.until(() => true)
  return { watch }
}

async function insertAndSee(db, i, { watch }) {
  const [{ n }] = watch.rows
  await db.execute('INSERT INTO counted (n) VALUES (?)', [i])
  await watch.until(([row]) => row.n > n)
}
