import { countedSince, counters, quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { makeRows } from './latency.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'

const many = 1000
const sql = 'SELECT * FROM items ORDER BY id'

/** Many subscribers of one query: half of them on one object, half on one each. The engine runs the query once. */
export const listeners = {
  id: 'live-listeners',
  version: 'v1',
  title: `insert → value at 1 or ${many.toLocaleString('en')} subscribers of one query`,
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await makeRows(db, 100)
    const ops = quick ? 20 : 100
    const { one, all } = await inTurns({ one: 1, all: many }, rounds, (subscribers) =>
      run(db, subscribers, ops),
    )
    return {
      wall: times(`insert → value at ${many} ÷ at 1`, ratio(all, one, 'wall'), { better: 'lower' }),
      one: time('insert → value at 1', each(one, 'wall')),
      all: time(`insert → value at ${many}`, each(all, 'wall')),
      mainEach: time(
        'main-thread time per subscriber and value',
        each(all, 'cpu').map((cpu) => cpu / many),
      ),
    }
  },
}

async function run(db, subscribers, ops) {
  await db.execute('DELETE FROM items WHERE id > 100')
  const expected = { rows: 100, waiting: subscribers, done: undefined }
  const next = (rows) => {
    if (rows.length === expected.rows && --expected.waiting === 0) expected.done()
  }
  const arrival = (rows) =>
    new Promise((resolve) => Object.assign(expected, { rows, waiting: subscribers, done: resolve }))
  const first = arrival(100)
  const shared = db.stream(sql)
  const stops = Array.from({ length: subscribers }, (_, i) =>
    (i % 2 ? db.stream(sql) : shared).subscribe(next),
  )
  await first
  const before = await counters(db)
  if (before.open !== 1) throw new Error(`${before.open} live queries for one query`)
  const insert = async () => {
    for (let i = 0; i < ops; i++) {
      const seen = arrival(100 + i + 1)
      await db.execute('INSERT INTO items (name, value) VALUES (?, ?)', [`Item ${i}`, i])
      await seen
    }
  }
  const sampled = await metered(insert, ops)
  const { reruns, unchanged } = await countedSince(db, before)
  if (reruns !== ops) throw new Error(`${reruns} re-runs for ${ops} inserts, ${unchanged} of them unchanged`)
  for (const stop of stops) stop()
  await quiet(db)
  return sampled
}
