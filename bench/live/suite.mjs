import { sample } from '../measure.mjs'
import { firstValue } from './churn.mjs'
import { countedSince, counters, quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { makeRows } from './latency.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'
import { stopAll, Watch, watchAll } from './watch.mjs'

const rows = 100
const all = 'SELECT * FROM items ORDER BY id'
const insert = 'INSERT INTO items (name, value) VALUES (?, ?)'

/** The small things that streams are used for. */
export const suite = {
  id: 'live-suite',
  version: 'v1',
  title: 'live queries over 100 rows',
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await makeRows(db, rows)
    const repeat = quick ? 5 : 20
    const phases = {
      select: () => selects(db, repeat),
      first: () => firsts(db, repeat),
      inserts: () => inserts(db, repeat),
      fanOut: () => fanOut(db, repeat, 10),
      growing: () => growing(db, repeat),
      churn: () => cycles(db, 100),
      rate: () => cycles(db, 500),
    }
    const s = await inTurns(phases, rounds, async (phase) => {
      await db.execute('DELETE FROM items WHERE id > ?', [rows])
      const sampled = await phase()
      await quiet(db)
      if ((await counters(db)).open !== 0) throw new Error('live queries left open')
      return sampled
    })
    return {
      first: time('subscribe → first value of 100 rows', each(s.first, 'wall')),
      firstRatio: times('the same ÷ a select', ratio(s.first, s.select, 'wall'), { better: 'lower' }),
      fanOut: time('insert → the values of 10 live queries', each(s.fanOut, 'wall')),
      fanOutRatio: times('the same ÷ an insert without live queries', ratio(s.fanOut, s.inserts, 'wall'), {
        better: 'lower',
      }),
      growing: time('100 rows more → value of the whole list (500 rows and more)', each(s.growing, 'wall')),
      churn: time(
        '100 × subscribe, first value, unsubscribe',
        each(s.churn, 'wall').map((wall) => wall * 100),
      ),
      rate: time(
        '500 × the same, all at once',
        each(s.rate, 'wall').map((wall) => wall * 500),
      ),
    }
  },
}

const selects = (db, ops) =>
  sample(
    {
      async run() {
        for (let i = 0; i < ops; i++)
          if ((await db.select(all)).length !== rows) throw new Error('wrong rows')
      },
    },
    ops,
  )

const firsts = (db, ops) =>
  sample(
    {
      async run() {
        for (let i = 0; i < ops; i++)
          if ((await firstValue(db.stream(all))).length !== rows) throw new Error('wrong rows')
      },
    },
    ops,
  )

const inserts = (db, ops) =>
  sample(
    {
      async run() {
        for (let i = 0; i < ops; i++) await db.execute(insert, [`Item ${i}`, i])
      },
    },
    ops,
  )

async function fanOut(db, ops, streams) {
  const queries = Array.from({ length: streams }, (_, i) => [
    'SELECT *, ? AS stream FROM items ORDER BY id',
    [i],
  ])
  const watches = await watchAll(db, queries)
  const run = async () => {
    for (let i = 0; i < ops; i++) {
      const seen = watches.map((watch) => watch.until((all) => all.length === rows + i + 1))
      await db.execute(insert, [`Item ${i}`, i])
      await Promise.all(seen)
    }
  }
  const before = await counters(db)
  const sampled = await metered(run, ops)
  const { emitted } = await countedSince(db, before)
  if (emitted !== ops * streams) throw new Error(`${emitted} values for ${ops} inserts`)
  stopAll(watches)
  return sampled
}

async function growing(db, ops) {
  const more = (count) =>
    db.executeBatch(
      insert,
      Array.from({ length: count }, (_, i) => [`Item ${i}`, i]),
    )
  await more(500 - rows)
  const watch = new Watch(db.stream(all))
  await watch.until((list) => list.length === 500)
  const run = async () => {
    for (let i = 1; i <= ops; i++) {
      const seen = watch.until((list) => list.length === 500 + 100 * i)
      await more(100)
      await seen
    }
  }
  const sampled = await metered(run, ops)
  watch.stop()
  return sampled
}

/** 100 one after the other, more of them all at once; each another query. */
async function cycles(db, ops) {
  const before = await counters(db)
  const one = async (i) => {
    const [row] = await firstValue(db.stream('SELECT *, ? AS stream FROM items ORDER BY id', [i]))
    if (row.stream !== i) throw new Error(`row of ${row.stream}`)
  }
  const run = async () => {
    if (ops > 100) return await Promise.all(Array.from({ length: ops }, (_, i) => one(i)))
    for (let i = 0; i < ops; i++) await one(i)
  }
  const sampled = await metered(run, ops)
  const { emitted } = await countedSince(db, before)
  if (emitted !== ops) throw new Error(`${emitted} values for ${ops} live queries`)
  return sampled
}
