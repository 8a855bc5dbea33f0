import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, World, withCode } from './support/nodes'

// G352
test('a node that never writes has its writes run elsewhere, and refuses transactions that write', async (t) => {
  const world = new World(t)
  const writer = await world.open('writer')
  await writer.exec('CREATE TABLE t(a)')
  const replica = await world.open('replica', { writes: false })
  await replica.execute('INSERT INTO t VALUES (1)')
  await replica.batch(['INSERT INTO t VALUES (2)'])
  await assert.rejects(
    replica.transaction((tx) => tx.execute('INSERT INTO t VALUES (3)')),
    withCode('RESQLITE_NEVER_WRITES', /writes. is false/),
  )
  await assert.rejects(
    replica.query('INSERT INTO t VALUES (4)', [], { limits: { bytes: 1_000_000 } }),
    withCode('RESQLITE_NEVER_WRITES'),
  )
  await all([writer, replica])
  for (const db of [writer, replica])
    assert.deepEqual(await db.select('SELECT a FROM t ORDER BY a'), [{ a: 1 }, { a: 2 }])
  assert.equal(replica.status.role, 'follower')
})

test('the status tells how many entries a node has appended, and how long that took', async (t) => {
  const world = new World(t)
  const writer = await world.open('writer')
  assert.deepEqual(writer.status.appends, { count: 0, totalMs: 0, lastMs: 0 })
  await writer.exec('CREATE TABLE t(a)')
  await writer.execute('INSERT INTO t VALUES (1)')
  const { count, totalMs, lastMs } = writer.status.appends
  assert.equal(count, 2)
  assert.ok(lastMs >= 0 && totalMs >= lastMs)
  assert.equal(writer.status.damaged, undefined)
})
