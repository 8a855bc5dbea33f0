import { random } from '../random.mjs'
import { owners, rows, seed, sql, writes } from '../reactive/cases/owners.mjs'
import { assertNothingLost, countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { count, time, times } from './figure.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'
import { assertUpToDate, reEmissions, stopAll, watchAll } from './watch.mjs'

const queries = Array.from({ length: owners }, (_, owner) => [sql, [owner]])

/** A11b: streams of a hundred rows each by an indexed column, updates of random rows: each is in one of them. */
export const ownersFanOut = {
  id: 'live-owners',
  version: 'v1',
  title: `${writes} updates of random rows, ${owners} live queries of ${rows / owners} rows by owner`,
  async measure({ open, rounds }) {
    const db = await open('items')
    await db.exec(
      `CREATE TABLE items (id INTEGER PRIMARY KEY, owner_id INTEGER, value INTEGER);
       CREATE INDEX items_by_owner ON items (owner_id)`,
    )
    const sets = Array.from({ length: rows }, (_, i) => [i % owners, i])
    await db.executeBatch('INSERT INTO items (owner_id, value) VALUES (?, ?)', sets)
    let value = rows
    const phases = { none: [], watched: queries }
    const { none, watched } = await inTurns(phases, rounds, (queries) => run(db, queries, () => ++value))
    return {
      requeries: count('re-runs per update', each(watched, 'requeries'), { better: 'lower' }),
      emissions: count('emissions per update', each(watched, 'emissions')),
      updates: times('updates/s ÷ without live queries', ratio(none, watched, 'wall'), { better: 'higher' }),
      main: times('main-thread time ÷ without live queries', ratio(watched, none, 'cpu'), {
        better: 'lower',
      }),
      wall: time('an update', each(watched, 'wall')),
    }
  },
}

async function run(db, queries, value) {
  await emptyLog(db)
  const watches = await watchAll(db, queries)
  const before = await counters(db)
  const sampled = await metered((ops) => update(db, ops, value), writes)
  await quiet(db, before, queries.length > 0 ? writes : 0)
  const counted = await countedSince(db, before)
  if (queries.length > 0) {
    assertNothingLost(counted, writes)
    if (reEmissions(watches) !== counted.emitted) throw new Error('not every emission arrived')
    if (counted.emitted === 0) throw new Error('nothing was emitted')
  }
  await assertUpToDate(db, watches, queries)
  stopAll(watches)
  await quiet(db)
  return { ...sampled, requeries: counted.reruns / writes, emissions: counted.emitted / writes }
}

async function update(db, ops, value) {
  const pick = random(seed)
  for (let i = 0; i < ops; i++)
    await db.execute('UPDATE items SET value = ? WHERE id = ?', [value(), pick(rows) + 1])
}
