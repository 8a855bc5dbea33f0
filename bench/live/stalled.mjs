import { countedSince, counters, quiet } from './counters.mjs'
import { bytes, count } from './figure.mjs'
import { makeItems, updateItem } from './keys.mjs'
import { memory } from './memory.mjs'

const rows = 1000
const sql = 'SELECT id, body, updated_at FROM items ORDER BY id'

/** An iterator that took one value and then takes none while others commit. */
export const stalled = {
  id: 'live-stalled',
  version: 'v1',
  title: 'memory while an iterator over a list of 1,000 rows stands still under 100,000 commits',
  async measure({ open, quick }) {
    const db = await open('items')
    await makeItems(db, rows)
    const commits = quick ? 10_000 : 100_000
    await update(db, commits / 10, 'warming up')
    const values = await run(
      db,
      commits,
      (live) => live[Symbol.asyncIterator](),
      (rows) => rows,
    )
    const changes = await run(
      db,
      commits,
      (live) => live.patches({ key: 'id' }),
      (patch) => patch.rows,
    )
    return {
      values: bytes('resident memory, second half − first half, values', values.grown),
      changes: bytes('the same, changes by key', changes.grown),
      valuesHeap: bytes('heap of V8, after all − before, values', values.heap),
      changesHeap: bytes('the same, changes by key', changes.heap),
      emitted: count('values that were not taken', [values.emitted, changes.emitted]),
    }
  },
}

async function run(db, commits, iterate, rowsOf) {
  const iterator = iterate(db.stream(sql))
  const first = await iterator.next()
  if (rowsOf(first.value).length !== rows) throw new Error('wrong rows')
  const before = await counters(db)
  const samples = [await memory()]
  for (let i = 0; i < 20; i++) {
    await update(db, commits / 20, `part ${i}`)
    samples.push(await memory())
  }
  await quiet(db)
  const { emitted } = await countedSince(db, before)
  if (emitted < commits / 500) throw new Error(`only ${emitted} values for ${commits} commits`)
  const { value } = await iterator.next()
  if (JSON.stringify(rowsOf(value)) !== JSON.stringify(await db.select(sql)))
    throw new Error('not the latest state')
  await iterator.return()
  const rss = samples.map((sample) => sample.rss)
  const half = rss.length / 2
  return {
    grown: Math.max(...rss.slice(half)) - Math.max(...rss.slice(0, half)),
    heap: samples.at(-1).heap - samples[0].heap,
    emitted,
  }
}

async function update(db, commits, label) {
  for (let i = 0; i < commits; i++) await updateItem(db, (i % rows) + 1, `${label} ${i}`, i)
}
