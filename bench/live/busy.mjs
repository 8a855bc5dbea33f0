import { summary } from '../summary.mjs'
import { quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { makeRows } from './latency.mjs'
import { each, inTurns, ratio } from './turns.mjs'
import { Watch } from './watch.mjs'

const rows = 100
const busyFor = 2000 // ms
const counting =
  'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ?) SELECT count(*) AS n FROM c'

/** Insert → value of a COUNT(*) stream while a reader is busy for two seconds: with a select, or with another stream. */
export const busyReader = {
  id: 'live-busy',
  version: 'v1',
  title: 'insert → new value of a live COUNT(*) while a reader runs a query of 2 s',
  async measure({ open, rounds }) {
    const db = await open('items')
    await makeRows(db, rows)
    const steps = await stepsFor(db, busyFor)
    const phases = {
      normal: idle,
      select: (db, steps) => besideSelect(db, steps, busyFor, latencies),
      stream: busyStream,
    }
    const measured = await inTurns(phases, Math.ceil(rounds / 5), async (phase) => {
      await db.execute('DELETE FROM items WHERE id > ?', [rows])
      const taken = await phase(db, steps)
      await quiet(db)
      return spread(taken)
    })
    const { normal, select, stream } = measured
    return {
      select: times('beside a select ÷ normal', ratio(select, normal, 'median'), { better: 'lower' }),
      stream: times('beside a live query ÷ normal', ratio(stream, normal, 'median'), { better: 'lower' }),
      normal: time('normal', each(normal, 'median')),
      normal99: time('normal, 99th percentile', each(normal, 'p99')),
      select99: time('beside a select, 99th percentile', each(select, 'p99')),
      stream99: time('beside a live query, 99th percentile', each(stream, 'p99')),
    }
  },
}

export function spread(taken) {
  const sorted = taken.sort((a, b) => a - b)
  return { median: summary(sorted).median, p99: sorted[Math.ceil(sorted.length * 0.99) - 1] }
}

/** How far to count for `ms`. */
export async function stepsFor(db, ms) {
  const steps = 1_000_000
  const start = performance.now()
  await db.select(counting, [steps])
  return Math.round((steps * ms) / (performance.now() - start))
}

const idle = (db) => {
  let left = 300
  return latencies(db, () => left-- > 0)
}

/** What `measure` takes, again and again, while a select counts to `steps` for about `ms`. */
export async function besideSelect(db, steps, ms, measure) {
  let busy = true
  const start = performance.now()
  const selected = db.select(counting, [steps]).finally(() => {
    busy = false
  })
  const measured = await measure(db, () => busy)
  await selected
  assertBusy(start, ms, measured)
  return measured
}

/** The first insert makes the slow stream run; the latencies are those of the inserts until it has. */
async function busyStream(db, steps) {
  const slow = new Watch(db.stream(`SELECT (${counting}) AS steps, count(*) AS rows FROM items`, [steps]))
  await slow.until(() => true)
  const start = performance.now()
  const measured = await latencies(db, () => slow.emissions === 1)
  assertBusy(start, busyFor, measured)
  slow.stop()
  return measured
}

function assertBusy(start, ms, measured) {
  const took = performance.now() - start
  if (took < ms / 4 || measured.length < 2) throw new Error(`busy for ${took} ms, ${measured.length} values`)
}

export async function latencies(db, more) {
  const watch = new Watch(db.stream('SELECT count(*) AS n FROM items'))
  await watch.until(() => true)
  const taken = []
  for (let n = watch.rows[0].n + 1; more(); n++) {
    const start = performance.now()
    const seen = watch.until(([row]) => row.n === n)
    await db.execute('INSERT INTO items (name, value) VALUES (?, ?)', [`Item ${n}`, n])
    await seen
    taken.push(performance.now() - start)
  }
  watch.stop()
  return taken
}
