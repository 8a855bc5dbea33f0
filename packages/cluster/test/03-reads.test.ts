import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterDatabase, ReachOptions } from '@resqlite/cluster'
import { three, withCode } from './support/nodes'

const SCHEMA = 'CREATE TABLE t(a)'
const SQL = 'SELECT a FROM t'

/** Every read with options. */
const reads: Record<string, (db: ClusterDatabase, options: ReachOptions) => Promise<unknown>> = {
  select: (db, options) => db.select(SQL, [], options),
  'select of a query': (db, options) => db.select({ sql: SQL }, options),
  selectOne: async (db, options) => [await db.selectOne(SQL, [], options)],
  selectBytes: async (db, options) =>
    JSON.parse(Buffer.from(await db.selectBytes(SQL, [], options)).toString()),
  query: async (db, options) => (await db.query(SQL, [], options)).rows,
  iterate: async (db, options) => {
    const rows: unknown[] = []
    for await (const row of db.iterate(SQL, [], options)) rows.push(row)
    return rows
  },
  snapshot: (db, options) => db.snapshot((snapshot) => snapshot.select(SQL), options),
}

for (const [name, read] of Object.entries(reads)) {
  // G346
  test(`${name}: fresh shows what any node has acknowledged`, async (t) => {
    const { follower, other } = await three(t, SCHEMA)
    for (let i = 1; i <= 20; i++) {
      await follower.execute(i === 1 ? 'INSERT INTO t VALUES (1)' : `UPDATE t SET a = ${i}`)
      assert.deepEqual(await read(other, { fresh: true }), [{ a: i }])
    }
  })

  // G346
  test(`${name}: after shows what was committed at a position that another node has named`, async (t) => {
    const { follower, other } = await three(t, SCHEMA)
    for (let i = 1; i <= 20; i++) {
      const { commit } = await follower.execute(
        i === 1 ? 'INSERT INTO t VALUES (1)' : `UPDATE t SET a = ${i}`,
      )
      assert.deepEqual(await read(other, { after: commit }), [{ a: i }])
    }
  })

  // G346
  test(`${name}: a node that is cut off answers what it has, and fails where it cannot know more`, async (t) => {
    const { world, follower, other } = await three(t, `${SCHEMA}; INSERT INTO t VALUES (0)`, {
      writeTimeout: 1500,
    })
    world.log.cut('other')
    const { commit } = await follower.execute('UPDATE t SET a = 1')
    assert.deepEqual(await read(other, {}), [{ a: 0 }])
    await assert.rejects(read(other, { fresh: true }), withCode('RESQLITE_NO_QUORUM'))
    await assert.rejects(
      read(other, { after: commit }),
      withCode('RESQLITE_TIMEOUT', /did not have position \d+/),
    )
    world.log.mend('other')
    assert.deepEqual(await read(other, { after: commit }), [{ a: 1 }])
  })

  test(`${name}: fresh and after are not available inside a transaction`, async (t) => {
    const { follower } = await three(t, SCHEMA)
    await follower.transaction(async () => {
      for (const options of [{ fresh: true }, { after: 1 }])
        await assert.rejects(read(follower, options), withCode('RESQLITE_TRANSACTION'))
    })
  })

  test(`${name}: wrong values of fresh and after are refused by name`, async (t) => {
    const { follower } = await three(t, SCHEMA)
    for (const [options, message] of [
      [{ fresh: 1 }, /option fresh must be true or false, not 1/],
      [{ after: -1 }, /option after must be an integer from 0/],
    ] as const) {
      const reading = async () => await read(follower, options as ReachOptions)
      await assert.rejects(reading, withCode('RESQLITE_OPTION', message))
    }
  })
}

// G346
test('a read that waits is given up with its signal', async (t) => {
  const { follower } = await three(t, SCHEMA)
  const controller = new AbortController()
  const reading = follower.select(SQL, [], { after: 1000, signal: controller.signal })
  setImmediate(() => controller.abort(new Error('too slow')))
  await assert.rejects(reading, withCode('RESQLITE_ABORTED'))
})

test('an iteration that waits ends when it is left', async (t) => {
  const { follower } = await three(t, SCHEMA, { writeTimeout: 200 })
  const rows = follower.iterate(SQL, [], { after: 1000 })
  const waiting = assert.rejects(rows.next(), withCode('RESQLITE_TIMEOUT'))
  assert.deepEqual(await rows.return?.(), { done: true, value: undefined })
  await waiting
})

// G346
test('reach waits for a position, and tells it', async (t) => {
  const { follower, other } = await three(t, SCHEMA)
  const { commit } = await follower.execute('INSERT INTO t VALUES (1)')
  assert.equal(await other.reach({ after: commit }), commit)
  assert.ok(other.status.applied >= commit)
  assert.equal(await other.reach({ fresh: true }), commit)
  await assert.rejects(other.reach({}), withCode('RESQLITE_OPTION', /fresh and after is needed/))
})

// G346
test('closing ends reads that wait', async (t) => {
  const { follower } = await three(t, SCHEMA)
  const reading = follower.select(SQL, [], { after: 1000 })
  const refused = assert.rejects(reading, withCode('RESQLITE_CLOSED'))
  await follower.close()
  await refused
})

test('a snapshot in the store of the log has the position of the node', async (t) => {
  const { world, follower } = await three(t, SCHEMA)
  const { commit } = await follower.execute('INSERT INTO t VALUES (7)')
  assert.equal(await follower.clusterSnapshot(), commit)
  const late = await world.open('late')
  assert.deepEqual(await late.select(SQL), [{ a: 7 }])
})
