import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWith } from './support/process'
import type { Tools } from './support/process-tools'

async function main({ Database, say }: Tools) {
  const db = await Database.open(':memory:')
  await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB)')
  const sets = Array.from({ length: 5000 }, (_, i) => [`text number ${i} – ü`.repeat(5), Buffer.alloc(50, i)])
  await db.executeBatch('INSERT INTO t(a, b) VALUES (?, ?)', sets)
  const rows = await db.select<{ id: number; a: string; b: Uint8Array }>('SELECT * FROM t')
  const same = rows.every(
    ({ id, a, b }) => a === sets[id - 1]?.[0] && b.length === 50 && b[0] === (id - 1) % 256,
  )
  say(`${rows.length} rows, the same: ${same}`)
  say(`${JSON.parse(String(await db.selectBytes('SELECT * FROM t'))).length} rows of JSON`)
  let iterated = 0
  for await (const row of db.iterate('SELECT id FROM t')) iterated += (row.id as number) > 0 ? 1 : 0
  say(`${iterated} rows one by one`)
  await db.close()
}

test('results arrive the same where native memory must not be shown to JavaScript', async (t) => {
  process.env.RESQLITE_COPY_RESULTS = '1'
  const child = startWith(t, [], main)
  delete process.env.RESQLITE_COPY_RESULTS
  assert.deepEqual(await child.output(), [
    '5000 rows, the same: true',
    '5000 rows of JSON',
    '5000 rows one by one',
  ])
})
