import { random } from '../random.mjs'
import { hits, rows, seed, sql, streams, watched, writes } from '../reactive/cases/keys.mjs'
import { assertNothingLost, countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { count, time, times } from './figure.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'
import { assertUpToDate, reEmissions, stopAll, watchAll } from './watch.mjs'

const queries = watched.map((id) => [sql, [id]])

/** A11: streams of one row each, updates of random rows. */
export const keys = {
  id: 'live-keys',
  version: 'v2',
  title: `${writes} updates of random rows out of ${rows.toLocaleString('en')}, ${streams} live queries of one row by key`,
  async measure({ open, rounds }) {
    const db = await open('items')
    await makeItems(db, rows)
    const phases = { none: [], watched: queries }
    const { none, watched: beside } = await inTurns(phases, rounds, (queries, label) =>
      run(db, queries, label),
    )
    return {
      hits: count('updates of a row that is watched', hits()),
      requeries: count('re-runs', each(beside, 'requeries'), { better: 'lower' }),
      excess: count('re-runs − updates of a row that is watched', each(beside, 'excess'), {
        better: 'lower',
      }),
      updates: times('updates/s ÷ without live queries', ratio(none, beside, 'wall'), { better: 'higher' }),
      wall: time('an update', each(beside, 'wall')),
    }
  },
}

export async function makeItems(db, rows) {
  await db.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, body TEXT, updated_at INTEGER)')
  const sets = Array.from({ length: rows }, (_, i) => [`body of ${i + 1}`, i])
  await db.executeBatch('INSERT INTO items (body, updated_at) VALUES (?, ?)', sets)
}

export const updateItem = (db, id, body, at) =>
  db.execute('UPDATE items SET body = ?, updated_at = ? WHERE id = ?', [body, at, id])

async function run(db, queries, label) {
  await emptyLog(db)
  const watches = await watchAll(db, queries)
  const before = await counters(db)
  const sampled = await metered((ops) => update(db, ops, label), writes)
  await quiet(db, before, queries.length > 0 ? hits() : 0)
  const counted = await countedSince(db, before)
  if (queries.length > 0) {
    assertNothingLost(counted, hits())
    if (reEmissions(watches) === 0) throw new Error('nothing was emitted')
  }
  await assertUpToDate(db, watches, queries)
  stopAll(watches)
  await quiet(db)
  return { ...sampled, requeries: counted.reruns, excess: counted.reruns - hits() }
}

async function update(db, ops, label) {
  const pick = random(seed)
  for (let i = 0; i < ops; i++) await updateItem(db, pick(rows) + 1, `${label} ${i}`, i)
}
