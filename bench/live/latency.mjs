import { summary } from '../summary.mjs'
import { countedSince, counters, quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { each, inTurns, ratio } from './turns.mjs'
import { Watch } from './watch.mjs'

export const rows = 100

/** From an insert to the value of a stream that counts the rows, beside a point query and an insert without streams. */
export const latency = {
  id: 'live-latency',
  version: 'v1',
  title: 'insert → new value of a live COUNT(*), one at a time',
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await makeRows(db, rows)
    const ops = quick ? 100 : 300
    const phases = { point, insert, emission }
    const samples = await inTurns(phases, rounds, async (phase) => {
      await db.execute('DELETE FROM items WHERE id > ?', [rows])
      return await phase(db, ops)
    })
    return {
      fromCall: times('call → value ÷ a point query', ratio(samples.emission, samples.point, 'call'), {
        better: 'lower',
      }),
      fromAnswer: times(
        'reply to the insert → value ÷ a point query',
        ratio(withAnswer(samples), samples.point, 'call'),
        { better: 'lower' },
      ),
      beyond: times(
        'call → value ÷ an insert without live queries',
        ratio(samples.emission, samples.insert, 'call'),
        { better: 'lower' },
      ),
      call: time('call → value', each(samples.emission, 'call')),
      answer: time('reply to the insert → value', each(samples.emission, 'answer')),
      insert: time('an insert without live queries', each(samples.insert, 'call')),
      point: time('a point query', each(samples.point, 'call')),
    }
  },
}

export async function makeRows(db, rows) {
  await db.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, value INTEGER)')
  const sets = Array.from({ length: rows }, (_, i) => [`Item ${i}`, i])
  await db.executeBatch('INSERT INTO items (name, value) VALUES (?, ?)', sets)
}

const withAnswer = ({ emission }) => emission.map(({ answer }) => ({ call: answer }))

const median = (values) => summary(values).median

const point = async (db, ops) => ({ call: median(await points(db, (done) => done < ops)) })

/** How long point queries take, one after the other, as long as `more` says yes to their number so far. */
export async function points(db, more) {
  const taken = []
  for (let i = 0; more(i); i++) {
    const id = ((i * 79) % rows) + 1
    const start = performance.now()
    const row = await db.selectOne('SELECT * FROM items WHERE id = ?', [id])
    taken.push(performance.now() - start)
    if (row.id !== id) throw new Error(`row ${row.id} instead of ${id}`)
  }
  return taken
}

const insertOne = (db, i) => db.execute('INSERT INTO items (name, value) VALUES (?, ?)', [`new ${i}`, i])

async function insert(db, ops) {
  const taken = []
  for (let i = 0; i < ops; i++) {
    const start = performance.now()
    await insertOne(db, i)
    taken.push(performance.now() - start)
  }
  return { call: median(taken) }
}

async function emission(db, ops) {
  const watch = new Watch(db.stream('SELECT count(*) AS n FROM items'))
  await watch.until(([{ n }]) => n === rows)
  const before = await counters(db)
  const calls = []
  const answers = []
  for (let i = 0; i < ops; i++) {
    const start = performance.now()
    // Both are waited for at once: the value may be there before the caller runs on.
    const seen = watch.until(([{ n }]) => n === rows + i + 1).then(() => performance.now())
    await insertOne(db, i)
    const answered = performance.now()
    const came = await seen
    calls.push(came - start)
    answers.push(Math.max(0, came - answered))
  }
  const { reruns, emitted } = await countedSince(db, before)
  if (reruns !== ops || emitted !== ops || watch.emissions !== ops + 1)
    throw new Error(`${reruns} re-runs and ${emitted} emissions for ${ops} inserts`)
  watch.stop()
  await quiet(db)
  return { call: median(calls), answer: median(answers) }
}
