import { payload, bulkSize as size } from '../reactive/cases/external.mjs'
import { assertNothingLost, countedSince, counters, quiet } from './counters.mjs'
import { count, times } from './figure.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'
import { stopAll, watchAll } from './watch.mjs'

const upsert = 'INSERT OR REPLACE INTO items (external_id, payload) VALUES (?, ?)'

/** A7: a synchronisation fills a table, and later merges into it, under a stream that counts the rows. */
export const burst = {
  id: 'live-burst',
  version: 'v1',
  title: '50,000 rows in batches of 500, then 10 × 100 replaced, beside a live COUNT(*)',
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await db.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, external_id INTEGER UNIQUE, payload TEXT)')
    const batches = quick ? 20 : 100
    const phases = { none: [], counted: [['SELECT count(*) AS n FROM items']] }
    const { none, counted } = await inTurns(phases, Math.ceil(rounds / 3), (queries) =>
      run(db, queries, batches),
    )
    return {
      bulk: times('rows/s of the fill ÷ without live queries', ratio(none, counted, 'bulk'), {
        better: 'higher',
      }),
      merge: times('rows/s of the merge ÷ without live queries', ratio(none, counted, 'merge'), {
        better: 'higher',
      }),
      emissions: count('values while it was filled', each(counted, 'emissions')),
      mergeEmissions: count('values while it was merged (the count stays)', each(counted, 'mergeEmissions'), {
        better: 'lower',
      }),
    }
  },
}

async function run(db, queries, batches) {
  await db.execute('DELETE FROM items')
  const watches = await watchAll(db, queries)
  const before = await counters(db)
  const bulk = await metered(() => write(db, batches, size), batches)
  await quiet(db)
  const filled = await countedSince(db, before)
  const merge = await metered(() => write(db, 10, 100), 10)
  await quiet(db)
  assertNothingLost(await countedSince(db, before), queries.length * (batches + 10))
  const { emitted } = await countedSince(db, before)
  for (const { rows } of watches)
    if (rows[0].n !== batches * size)
      throw new Error(`${rows[0].n} rows counted instead of ${batches * size}`)
  stopAll(watches)
  await quiet(db)
  return {
    bulk: bulk.wall,
    merge: merge.wall,
    emissions: filled.emitted,
    mergeEmissions: emitted - filled.emitted,
  }
}

async function write(db, batches, size) {
  for (let batch = 0; batch < batches; batch++) {
    const sets = Array.from({ length: size }, (_, i) => [batch * size + i, payload(i)])
    await db.executeBatch(upsert, sets)
  }
}
