import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gate } from './support/errors'
import { startWith } from './support/process'
import { random } from './support/random'
import { openDatabase, tempDatabase, tempFile, tempFolder } from './support/temp'
import { whoWaits } from './support/watchdog'

/** Of each part. `scripts/soak-hangs.mjs` goes on for ten minutes. */
const ROUNDS = 4

for (const part of ['first', 'second']) {
  // G201
  test(`whatever is dropped, destroyed, aborted, closed or terminated, all resources are released (${part} part)`, async (t) => {
    const { seed } = random()
    t.diagnostic(`RESQLITE_SEED=${seed}`)
    const main = async (_: unknown, module: string, folder: string, seed: number, rounds: number) => {
      await require(module).hunt(folder, seed, rounds)
    }
    const module = join(__dirname, 'support', 'process-hangs.js')
    const flags = ['--expose-gc', '--no-warnings']
    const lines = await startWith(t, flags, main, module, tempFolder(t), seed, ROUNDS).output()
    assert.deepEqual(lines, [])
  })
}

test('the report of a stuck test says what waits for what', async (t) => {
  const path = tempFile(t)
  const [db, other] = [await openDatabase(t, path), await openDatabase(t, path)]
  const closed = await tempDatabase(t)
  await closed.close()
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)')
  const [inside, end] = [gate(), gate()]
  const run = db.transaction(async () => {
    inside.open()
    await end.promise
  })
  await inside.promise
  const rows = db.iterate('SELECT x FROM t', [], { batchSize: 1 })
  await rows.next()
  const writes = [other.execute('INSERT INTO t VALUES (4)'), other.execute('INSERT INTO t VALUES (5)')]
  await db.snapshot(async (snap) => {
    // A thread spins for a moment before it parks.
    while (/at work/.test((await whoWaits([db])).replace(/readers: .*/, '')));
    const report = await whoWaits([db, closed])
    const waits = /for \d+ ms, waits for its caller/.source
    for (const line of [
      `${path}: 2 objects`,
      `  writer: 2 wait; held by a transaction ${waits}`,
      '  leases: 0 wait; 2 open',
      `    iterate ${waits} SELECT x FROM t`,
      `    snapshot ${waits}`,
      `${closed.path}: closed or closing`,
    ]) {
      assert.match(report, new RegExp(`^${line}$`, 'm'))
    }
    await snap.select('SELECT x FROM t') // a snapshot that is no longer used may be collected, and ends then
  })
  end.open()
  await Promise.all([run, ...writes, rows.return?.()])
})
