import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterDatabase } from '@resqlite/cluster'
import { ResqliteError, type Transaction } from 'resqlite'
import { all, three, withCode } from './support/nodes'

const SCHEMA = 'CREATE TABLE n(x); INSERT INTO n VALUES (0)'

async function add(db: ClusterDatabase, retries?: number): Promise<void> {
  await db.transaction(
    async (tx) => {
      const row = await tx.selectOne<{ x: number }>('SELECT x FROM n')
      await tx.execute('UPDATE n SET x = ?', [(row?.x ?? 0) + 1])
    },
    { retries },
  )
}

// G347
test('transactions on several nodes run again until each was done alone', async (t) => {
  const { writer, follower, other } = await three(t, SCHEMA)
  const nodes = [writer, follower, other]
  await Promise.all(
    nodes.map(async (db) => {
      for (let i = 0; i < 10; i++) await add(db, 1000)
    }),
  )
  await all(nodes)
  for (const db of nodes) assert.deepEqual(await db.select('SELECT x FROM n'), [{ x: 30 }])
})

/** Runs a transaction on a node whose runs another node overtakes, as often as asked. */
async function overtaken(db: ClusterDatabase, by: ClusterDatabase, times: number, retries?: number) {
  let runs = 0
  const outcome = db.transaction(
    async (tx) => {
      await tx.execute('UPDATE n SET x = x + 100')
      // A transaction runs on its own node, so that it does not wait for this one.
      if (runs++ < times) await by.transaction((its) => its.execute('UPDATE n SET x = x + 1'))
      return runs
    },
    retries === undefined ? undefined : { retries },
  )
  return { outcome, runs: () => runs }
}

// G347
test('a transaction that is overtaken runs again from its start, on the new state', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const { outcome } = await overtaken(writer, follower, 3)
  assert.equal(await outcome, 4)
  assert.deepEqual(await writer.select('SELECT x FROM n'), [{ x: 103 }])
})

// G347
test('after ten retries, or as many as were asked for, a transaction has failed and done nothing', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  for (const [retries, runs] of [
    [undefined, 11],
    [2, 3],
    [0, 1],
  ] as const) {
    const tried = await overtaken(writer, follower, 1000, retries)
    await assert.rejects(tried.outcome, withCode('RESQLITE_OVERTAKEN', /run it again/))
    assert.equal(tried.runs(), runs)
  }
  await all([writer])
  assert.deepEqual(await writer.select('SELECT x FROM n'), [{ x: 15 }])
})

// G347
test('an error of the body is passed on, and not run again', async (t) => {
  const { writer } = await three(t, SCHEMA)
  const error = new ResqliteError('that of another cluster', 'RESQLITE_OVERTAKEN')
  let runs = 0
  const body = () => {
    runs++
    throw error
  }
  await assert.rejects(writer.transaction(body), (thrown) => thrown === error)
  assert.equal(runs, 1)
})

test('calls on the node join the transaction, and nested transactions are part of it', async (t) => {
  const { follower } = await three(t, SCHEMA)
  await follower.transaction(async (tx) => {
    await follower.execute('UPDATE n SET x = 5')
    await tx.transaction(async () => {
      await follower.transaction((inner) => inner.execute('UPDATE n SET x = x + 1'))
    })
    assert.deepEqual(await follower.select('SELECT x FROM n'), [{ x: 6 }])
  })
  assert.deepEqual(await follower.select('SELECT x FROM n'), [{ x: 6 }])
})

// G347
test('a transaction from begin that is overtaken fails at its commit, and has done nothing', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const tx = await writer.begin()
  await tx.execute('UPDATE n SET x = 100')
  await add(follower)
  await assert.rejects(tx.commit(), withCode('RESQLITE_OVERTAKEN'))
  assert.equal(tx.open, false)
  await all([writer])
  assert.deepEqual(await writer.select('SELECT x FROM n'), [{ x: 1 }])
})

// G322
test('a transaction that changes nothing beside one that always writes runs twice at most', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  for (let i = 0; i < 10; i++) {
    let runs = 0
    const poll = async (tx: Transaction) => {
      runs++
      await tx.execute('DELETE FROM n WHERE x < 0')
      await writer.transaction((its) => its.execute('UPDATE n SET x = x + 1'))
    }
    await follower.transaction(poll, { retries: 1 })
    assert.equal(runs, 2)
  }
})

test('a write that needs a table of another node finds it', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  for (let i = 0; i < 20; i++) {
    const [one, other] = i % 2 === 0 ? [writer, follower] : [follower, writer]
    await one.transaction((tx) => tx.execute(`CREATE TABLE made_${i}(x)`))
    await other.execute(`INSERT INTO made_${i} VALUES (1)`)
  }
})

test('wrong arguments of a transaction are refused by name', async (t) => {
  const { writer } = await three(t, SCHEMA)
  const body = () => undefined
  for (const [options, message] of [
    [{ retries: -1 }, /option retries must be an integer from 0/],
    [{ retry: 1 }, /unknown option "retry"/],
  ] as const)
    await assert.rejects(writer.transaction(body, options as object), withCode('RESQLITE_OPTION', message))
  await assert.rejects(
    writer.transaction(undefined as never),
    withCode('RESQLITE_OPTION', /must be a function/),
  )
})

// G347
test('the signal of a transaction ends the retries', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const controller = new AbortController()
  let runs = 0
  const tried = writer.transaction(
    async (tx) => {
      if (++runs === 3) controller.abort()
      await tx.execute('UPDATE n SET x = x + 100')
      await add(follower)
    },
    { signal: controller.signal, retries: 1000 },
  )
  await assert.rejects(tried, withCode('RESQLITE_ABORTED'))
  assert.equal(runs, 3)
})
