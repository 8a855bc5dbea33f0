import { expectSame, scalar } from './expect.mjs'
import { makeFile, numbered } from './file.mjs'
import { time } from './measures.mjs'
import { steps } from './steps.mjs'
import { timed } from './timed.mjs'

const rows = 50_000
const batchRows = 500
const mergeRounds = 10
const mergeRows = 100
const insert = 'INSERT INTO items (external_id, payload) VALUES (?, ?)'
const replace = 'INSERT OR REPLACE INTO items (external_id, payload) VALUES (?, ?)'
const row = (i, round) => [`external-${i}`, `payload ${round} of item ${i} as a server sends it to a client`]

/** What a client does that gets everything at first and then what has changed: large batches, then small merges. */
export const syncBurst = {
  id: 'a7-sync-burst',
  version: 'v1',
  group: 'scenarios',
  title: 'first synchronisation: 50,000 rows in batches of 500, then 10 merges of 100',
  shapes: ['sync'],
  fewer: true,
  measures: {
    bulk: time('50,000 rows in batches of 500'),
    merge: time('a merge of 100 rows'),
  },
  seed: (file) =>
    makeFile(
      file,
      'CREATE TABLE items (id INTEGER PRIMARY KEY, external_id TEXT NOT NULL UNIQUE, payload TEXT NOT NULL)',
    ),
  async prepare(session) {
    const inserting = await session.batch?.(insert)
    if (!inserting) return
    const replacing = await session.batch(replace)
    const all = numbered(rows, (i) => row(i, 0))
    const batches = numbered(rows / batchRows, (n) => all.slice((n - 1) * batchRows, n * batchRows))
    // Every round merges rows from all over the table, none of them twice.
    const merges = numbered(mergeRounds, (round) =>
      numbered(mergeRows, (i) => row(((i * mergeRounds + round) * 7) % rows || rows, round)),
    )
    const load = steps(session, function* () {
      for (const batch of batches) yield inserting(batch)
    })
    const merge = steps(session, function* () {
      for (const batch of merges) yield replacing(batch)
    })
    return {
      async measure() {
        await session.exec('DELETE FROM items')
        await session.pragma('wal_checkpoint(TRUNCATE)')
        const first = await timed(load)
        const then = await timed(merge)
        expectSame('rows', await scalar(session, 'SELECT count(*) FROM items'), rows)
        const untouched = await scalar(session, `SELECT count(*) FROM items WHERE payload LIKE 'payload 0 %'`)
        expectSame('merged rows', rows - untouched, mergeRounds * mergeRows)
        return {
          wall: first.wall + then.wall,
          main: first.main + then.main,
          bulk: first.wall,
          merge: then.wall / mergeRounds,
        }
      },
    }
  },
}
