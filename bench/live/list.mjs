import { random } from '../random.mjs'
import { expectedRows, insertSql, parameterSets, shapes } from '../shapes.mjs'
import { summary } from '../summary.mjs'
import { countedSince, counters } from './counters.mjs'
import { count, time, times } from './figure.mjs'
import { each, inTurns, ratio, turn } from './turns.mjs'
import { Watch } from './watch.mjs'

const rows = 10_000
const seed = 0x11577
const busyFor = 6 // ms: longer than the native threads take for the list
const sql = 'SELECT * FROM items ORDER BY id'

/**
 * A long list in which one row changes: what the main thread has to do for a value, beside decoding the list anew from a
 * select. The clock starts when the native threads are done.
 */
export const list = {
  id: 'live-list',
  version: 'v1',
  title: 'a live list of 10,000 × 6, one row updated per commit',
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await makeList(db)
    const watch = new Watch(db.stream(sql))
    await watch.until(() => true)
    if (watch.rows[0].description !== expectedRows('items', 1)[0].description) throw new Error('wrong rows')
    const ops = quick ? 10 : 20
    const pick = random(seed)
    const phases = { select: () => selects(db, ops), live: () => values(db, watch, ops, pick) }
    const { select, live } = await inTurns(phases, rounds, (phase) => phase())
    return {
      main: times('main-thread time of a value ÷ of a select of the list', ratio(live, select, 'main'), {
        better: 'lower',
      }),
      mainLive: time('main-thread time of a value', each(live, 'main')),
      mainSelect: time('main-thread time of a select of the list', each(select, 'main')),
      requery: time('the query on a native thread', each(live, 'requery')),
      rowsPatched: count('rows sent per update', each(live, 'rowsPatched'), { better: 'lower' }),
    }
  },
}

async function makeList(db) {
  const columns = Object.entries(shapes.items.columns).map(([name, type]) => `${name} ${type}`)
  await db.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, ${columns.join(', ')})`)
  await db.executeBatch(insertSql('items'), parameterSets('items', rows))
}

/**
 * The time until `promise` is resolved, after the native threads have done their part: what is left is up to the main thread.
 * That does something else meanwhile. Had it slept, most of the time would be that of an idle processor waking up.
 */
async function mainTime(promise) {
  const until = performance.now() + busyFor
  while (performance.now() < until);
  const start = performance.now()
  const value = await promise
  return { value, main: performance.now() - start }
}

const medianMain = (samples) => summary(each(samples, 'main')).median

async function selects(db, ops) {
  const samples = []
  for (let i = 0; i < ops; i++) {
    const selected = db.select(sql)
    await turn() // it is on its way
    const { value, main } = await mainTime(selected)
    if (value.length !== rows) throw new Error(`${value.length} rows`)
    samples.push({ main })
  }
  return { main: medianMain(samples) }
}

/** No two updates write the same value. */
let updates = 0

async function values(db, watch, ops, pick) {
  const before = await counters(db)
  const first = watch.rows
  const changed = new Set()
  const samples = []
  for (let i = 0; i < ops; i++) {
    const id = pick(rows) + 1
    const value = ++updates + 0.5
    changed.add(id)
    await db.execute('UPDATE items SET value = ? WHERE id = ?', [value, id])
    samples.push(await mainTime(watch.until((all) => all[id - 1].value === value)))
  }
  const { emitted, reruns, rowsPatched, totalMicros } = await countedSince(db, before)
  if (emitted !== ops) throw new Error(`${emitted} values for ${ops} updates`)
  assertShared(first, watch.rows, changed)
  return {
    main: medianMain(samples),
    rowsPatched: rowsPatched / ops,
    requery: totalMicros / reruns / 1000,
  }
}

/** The rows that were updated, and only they, are other objects than in the first value. */
function assertShared(first, now, changed) {
  if (first.length !== rows || now.length !== rows) throw new Error(`${now.length} rows`)
  for (const [i, row] of now.entries()) {
    if ((row !== first[i]) !== changed.has(i + 1))
      throw new Error(`row ${i + 1} is ${row === first[i] ? 'the same' : 'another'} object`)
  }
}
