// The table of the workloads about columns: twenty texts a…t, rows 0…4999.

import { assertNothingLost, countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { metered, turn } from './turns.mjs'
import { assertUpToDate, reEmissions, stopAll, watchAll } from './watch.mjs'

export const wideRows = 5000
export const writes = 500
const columns = [...'abcdefghijklmnopqrst']

export async function makeWide(db) {
  await db.exec(
    `CREATE TABLE wide (id INTEGER PRIMARY KEY, ${columns.map((name) => `${name} TEXT`).join(', ')})`,
  )
  const sets = Array.from({ length: wideRows }, (_, id) => [id, ...columns.map((name) => `${name} of ${id}`)])
  await db.executeBatch(`INSERT INTO wide VALUES (?${', ?'.repeat(columns.length)})`, sets)
}

/** One awaited update of one row. */
const updateWide = (db, column, id, text) =>
  db.execute(`UPDATE wide SET ${column} = ? WHERE id = ?`, [text, id])

/** Updates of one column, row after row, beside streams of these queries, of which `concerned` commits concern one. */
export async function updatesBeside(db, { column, queries, concerned }, label) {
  await emptyLog(db)
  const watches = await watchAll(db, queries)
  const before = await counters(db)
  const sampled = await metered((ops) => update(db, column, ops, label), writes)
  await quiet(db)
  const counted = await countedSince(db, before)
  assertNothingLost(counted, concerned)
  if (counted.commits !== writes * queries.length)
    throw new Error(`${counted.commits} commits looked at for ${queries.length} streams`)
  if (reEmissions(watches) !== counted.emitted) throw new Error('not every emission arrived')
  if (concerned > 0 && counted.emitted === 0) throw new Error('nothing was emitted')
  await assertUpToDate(db, watches, queries)
  if (watches.length > 0) await assertAlive(db, watches[0], label)
  stopAll(watches)
  await quiet(db)
  return { ...sampled, requeries: counted.requeries / writes, emissions: counted.emitted / writes }
}

async function update(db, column, ops, label) {
  for (let i = 0; i < ops; i++) {
    await updateWide(db, column, i % wideRows, `${label} ${i}`)
    await turn()
    await turn()
  }
}

async function assertAlive(db, watch, label) {
  const text = `${label}, the last`
  await updateWide(db, 'a', 0, text)
  await watch.until(([first]) => first.a === text)
}
