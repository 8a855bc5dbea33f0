import { counters, quiet } from './counters.mjs'
import { rate, times } from './figure.mjs'
import { makeRows } from './latency.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'
import { stopAll, watchAll } from './watch.mjs'

const sql = 'INSERT INTO items (name, value) VALUES (?, ?)'
const queries = [
  ...Array.from({ length: 50 }, (_, i) => ['SELECT * FROM items WHERE id = ?', [i]]),
  ['SELECT count(*) FROM items'],
]

/**
 * What streams leave behind. Of three files with the same rows, one has had 51 streams before every turn, and a commit that concerned
 * them; the other two never had any, and the ratio of these two is how far the figures can be trusted.
 */
export const idle = {
  id: 'live-idle',
  version: 'v1',
  title: 'inserts when no live query is open: after live queries were opened and closed ÷ never opened',
  async measure({ open, rounds, quick }) {
    const files = { never: await open('never'), control: await open('control'), before: await open('before') }
    for (const db of Object.values(files)) await makeRows(db, 0)
    const [single, batch] = quick ? [500, 10_000] : [2000, 50_000]
    const phases = Object.fromEntries(
      Object.entries(files).flatMap(([name, db]) => [
        [`${name}Single`, () => run(name, db, single, inserts)],
        [`${name}Batch`, () => run(name, db, batch, insertBatch)],
      ]),
    )
    const measured = await inTurns(phases, rounds, (phase) => phase())
    const { neverSingle, neverBatch, controlSingle, controlBatch, beforeSingle, beforeBatch } = measured
    return {
      single: times(
        'inserts/s, had live queries before ÷ never had',
        ratio(neverSingle, beforeSingle, 'wall'),
        {
          better: 'higher',
        },
      ),
      singleControl: times('inserts/s, never had ÷ never had', ratio(neverSingle, controlSingle, 'wall'), {
        better: 'none',
      }),
      batch: times(
        'rows/s of a batch, had live queries before ÷ never had',
        ratio(neverBatch, beforeBatch, 'wall'),
        { better: 'higher' },
      ),
      batchControl: times(
        'rows/s of a batch, never had ÷ never had',
        ratio(neverBatch, controlBatch, 'wall'),
        { better: 'none' },
      ),
      singleRate: rate(
        'inserts/s, never had',
        each(neverSingle, 'wall').map((wall) => 1000 / wall),
      ),
      batchRate: rate(
        'rows/s of a batch, never had',
        each(neverBatch, 'wall').map((wall) => 1000 / wall),
      ),
    }
  },
}

async function run(name, db, rows, insert) {
  await db.execute('DELETE FROM items')
  await db.execute('PRAGMA wal_checkpoint(TRUNCATE)')
  if (name === 'before') await haveStreams(db)
  const sampled = await metered(() => insert(db, rows), rows)
  const { n } = await db.selectOne('SELECT count(*) AS n FROM items')
  const { open, emitted } = await counters(db)
  if (n !== rows || open !== 0) throw new Error(`${n} rows, ${open} live queries`)
  if (emitted > 0 !== (name === 'before')) throw new Error(`${name}: ${emitted} values`)
  return sampled
}

async function haveStreams(db) {
  const watches = await watchAll(db, queries)
  await db.execute(sql, ['for the live queries', 0])
  await quiet(db)
  if (watches.at(-1).emissions !== 2) throw new Error('the live queries did not run')
  stopAll(watches)
  await db.execute('DELETE FROM items')
  await quiet(db)
}

async function inserts(db, rows) {
  for (let i = 0; i < rows; i++) await db.execute(sql, [`Item ${i}`, i])
}

const insertBatch = (db, rows) =>
  db.executeBatch(
    sql,
    Array.from({ length: rows }, (_, i) => [`Item ${i}`, i]),
  )
