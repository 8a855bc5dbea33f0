// The workloads about columns.

import { columns, table, values, wideRows, writes } from '../reactive/cases/wide.mjs'
import { createSql } from '../reactive/sql.mjs'
import { assertNothingLost, countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { metered, turn } from './turns.mjs'
import { assertUpToDate, reEmissions, stopAll, watchAll } from './watch.mjs'

export async function makeWide(db) {
  for (const sql of createSql(table)) await db.exec(sql)
  const sets = Array.from({ length: wideRows }, (_, id) => values(id))
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
  await quiet(db, before, concerned)
  const counted = await countedSince(db, before)
  assertNothingLost(counted, concerned)
  if (counted.commits !== writes * queries.length)
    throw new Error(`${counted.commits} commits looked at for ${queries.length} live queries`)
  if (reEmissions(watches) !== counted.emitted) throw new Error('not every emission arrived')
  if (concerned > 0 && counted.emitted === 0) throw new Error('nothing was emitted')
  await assertUpToDate(db, watches, queries)
  if (watches.length > 0) await assertAlive(db, watches[0], label)
  stopAll(watches)
  await quiet(db)
  return { ...sampled, requeries: counted.reruns / writes, emissions: counted.emitted / writes }
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
