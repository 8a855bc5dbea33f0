import { sql } from '../reactive/cases/keys.mjs'
import { countedSince, counters, quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { makeItems } from './keys.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'

/** Streams that are opened, give one value and are closed, one after the other, each with another key. */
export const churn = {
  id: 'live-churn',
  version: 'v1',
  title: 'subscribe, first value, unsubscribe: 10,000 live queries by key',
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    const ops = quick ? 1000 : 10_000
    await makeItems(db, ops)
    const phases = { point: () => points(db, ops), stream: () => streams(db, ops) }
    const { point, stream } = await inTurns(phases, Math.ceil(rounds / 3), (phase) => phase())
    return {
      wall: times('a live query ÷ a point query', ratio(stream, point, 'wall'), { better: 'lower' }),
      main: times('main-thread time ÷ a point query', ratio(stream, point, 'cpu'), { better: 'lower' }),
      stream: time('a live query', each(stream, 'wall')),
      point: time('a point query', each(point, 'wall')),
    }
  },
}

const check = (row, id) => {
  if (row.id !== id || row.body !== `body of ${id}`) throw new Error(`wrong row for ${id}`)
}

async function points(db, ops) {
  const run = async () => {
    for (let id = 1; id <= ops; id++) check(await db.selectOne(sql, [id]), id)
  }
  return await metered(run, ops)
}

/** The first value of a stream, which is closed then. */
export const firstValue = (live) =>
  new Promise((resolve, reject) => {
    const stop = live.subscribe((rows) => {
      stop()
      resolve(rows)
    }, reject)
  })

async function streams(db, ops) {
  const before = await counters(db)
  const run = async () => {
    for (let id = 1; id <= ops; id++) check((await firstValue(db.stream(sql, [id])))[0], id)
  }
  const sampled = await metered(run, ops)
  await quiet(db)
  const { emitted, open } = await countedSince(db, before)
  if (emitted !== ops || open !== 0) throw new Error(`${emitted} values, ${open} live queries left open`)
  return sampled
}
