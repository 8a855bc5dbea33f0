import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import type { AbortError, AbortOptions, Database } from 'resqlite'
import { ENDLESS, gate, withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const aborted = (cause: unknown) => (error: AbortError) =>
  error.name === 'AbortError' && error.code === 'RESQLITE_ABORTED' && error.cause === cause

// G74
test('a signal that has fired before runs nothing', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const options = { signal: AbortSignal.abort('before') }
  const insert = 'INSERT INTO t VALUES (?)'
  await assert.rejects(db.select('nonsense', [], options), aborted('before'))
  await assert.rejects(db.selectOne('nonsense', [], options), aborted('before'))
  await assert.rejects(db.selectBytes('nonsense', [], options), aborted('before'))
  await assert.rejects(db.execute(insert, [1], options), aborted('before'))
  await assert.rejects(db.executeBatch(insert, [[1]], options), aborted('before'))
  await assert.rejects(
    db.transaction(async () => assert.fail('must not run'), options),
    aborted('before'),
  )
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

const reads: Record<string, (db: Database, options: AbortOptions) => Promise<unknown>> = {
  select: (db, options) => db.select(ENDLESS, [], options),
  selectOne: (db, options) => db.selectOne(ENDLESS, [], options),
  selectBytes: (db, options) => db.selectBytes(ENDLESS, [], options),
}

for (const [method, read] of Object.entries(reads)) {
  // G75
  test(`${method} is interrupted, and its reader continues`, async (t) => {
    const db = await tempDatabase(t, '', { readers: 1 })
    const controller = new AbortController()
    const endless = read(db, { signal: controller.signal })
    setImmediate(() => controller.abort('enough'))
    await assert.rejects(endless, aborted('enough'))
    assert.deepEqual(await db.select('SELECT 1 AS x'), [{ x: 1 }])
  })
}

// G75
test('a read that waits for a reader never runs', async (t) => {
  const db = await tempDatabase(t, '', { readers: 1 })
  const first = new AbortController()
  const busy = db.select(ENDLESS, [], { signal: first.signal })
  const second = new AbortController()
  const waiting = db.select('SELECT 1', [], { signal: second.signal })
  setImmediate(() => second.abort('second'))
  await assert.rejects(waiting, aborted('second'))
  first.abort('first')
  await assert.rejects(busy, aborted('first'))
})

// G76
test('a write that waits never runs', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const inside = gate()
  const goOn = gate()
  const transaction = db.transaction(async () => {
    inside.open()
    await goOn.promise
  })
  await inside.promise
  const controller = new AbortController()
  const write = db.execute('INSERT INTO t VALUES (1)', [], { signal: controller.signal })
  await new Promise((resolve) => setImmediate(resolve))
  controller.abort('enough')
  await assert.rejects(write, aborted('enough'))
  goOn.open()
  await transaction
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

// G76
test('a running write is interrupted and undone', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const controller = new AbortController()
  const write = db.execute(`INSERT INTO t ${ENDLESS}`, [], { signal: controller.signal })
  setImmediate(() => controller.abort('enough'))
  await assert.rejects(write, aborted('enough'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
  assert.equal((await db.execute('INSERT INTO t VALUES (1)')).changes, 1)
})

// G78
test('a signal that fires after the end changes nothing, and no listener is left', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const controller = new AbortController()
  const { signal } = controller
  await db.select('SELECT 1', [], { signal })
  await db.execute('INSERT INTO t VALUES (1)', [], { signal })
  await db.executeBatch('INSERT INTO t VALUES (?)', [[1]], { signal })
  await db.transaction(async () => {}, { signal })
  for await (const _ of db.iterate('SELECT 1', [], { signal }));
  await assert.rejects(db.select('nonsense', [], { signal }))
  assert.equal(getEventListeners(signal, 'abort').length, 0)
  controller.abort()
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 2 })
})

test('one signal cancels many calls', async (t) => {
  const db = await tempDatabase(t)
  const controller = new AbortController()
  const calls = Array.from({ length: 50 }, () => db.select(ENDLESS, [], { signal: controller.signal }))
  setImmediate(() => controller.abort('all'))
  for (const outcome of await Promise.allSettled(calls)) {
    assert.equal(outcome.status === 'rejected' && outcome.reason.cause, 'all')
  }
  assert.deepEqual(await db.select('SELECT 1 AS x'), [{ x: 1 }])
})

test('AbortSignal.timeout works', async (t) => {
  const db = await tempDatabase(t)
  await assert.rejects(db.select(ENDLESS, [], { signal: AbortSignal.timeout(5) }), (error: AbortError) => {
    assert.equal((error.cause as Error).name, 'TimeoutError')
    return withCode('RESQLITE_ABORTED')(error)
  })
})

// G28
test('aborts at random moments never mix up replies', async (t) => {
  const db = await tempDatabase(t)
  for (let round = 0; round < 40; round++) {
    const controller = new AbortController()
    const aborting = Array.from({ length: 10 }, () =>
      db.select('SELECT 0 AS x', [], { signal: controller.signal }),
    )
    const staying = Array.from({ length: 10 }, (_, i) => db.selectOne('SELECT ? AS x', [i]))
    for (let i = 0; i < round % 8; i++) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    for (const outcome of await Promise.allSettled(aborting)) {
      if (outcome.status === 'fulfilled') assert.deepEqual(outcome.value, [{ x: 0 }])
    }
    assert.deepEqual(
      await Promise.all(staying),
      Array.from({ length: 10 }, (_, x) => ({ x })),
    )
  }
})
