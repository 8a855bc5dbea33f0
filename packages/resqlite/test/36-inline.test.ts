import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
import type { Database, OpenOptions, QueryTrace } from 'resqlite'
import { withCode } from './support/errors'
import { openDatabase, tempFile } from './support/temp'

const SCHEMA = `CREATE TABLE t(id INTEGER PRIMARY KEY, a);
  INSERT INTO t VALUES (1, 'one'), (2, 9007199254740993), (3, 1.5), (4, x'00ff'), (5, NULL), (6, 'zwölf 🎉')`
const BY_ID = 'SELECT * FROM t WHERE id = ?'

async function fileDatabase(t: TestContext, options?: OpenOptions): Promise<Database> {
  const db = await openDatabase(t, tempFile(t), options)
  await db.exec(SCHEMA)
  return db
}

const ran = async (db: Database) => (await db.diagnostics()).inline.run

/** Calls until one of the calls has run on this thread. */
async function untilInline(db: Database, call: () => Promise<unknown>): Promise<void> {
  const before = await ran(db)
  while ((await ran(db)) === before) for (let calls = 0; calls < 10; calls++) await call()
}

const quickOf = (db: Database) => () => db.selectOne(BY_ID, [1])

// G401
test('a query that was quick runs on the calling thread', async (t) => {
  const db = await fileDatabase(t)
  await untilInline(db, quickOf(db))
})

for (const integers of ['auto', 'bigint'] as const) {
  // G401
  test(`rows are the same on the calling thread, with integers as ${integers}`, async (t) => {
    const db = await fileDatabase(t, { integers })
    const sql = 'SELECT a FROM t WHERE id = ?'
    const ids = [1, 2, 3, 4, 5, 6]
    const elsewhere: unknown[] = []
    // A select that begins beside another call never runs here.
    for (const id of ids) elsewhere.push((await Promise.all([db.select(sql, [id]), db.diagnostics()]))[0])
    for (const [at, id] of ids.entries()) {
      await untilInline(db, async () => assert.deepEqual(await db.select(sql, [id]), elsewhere[at]))
    }
    await untilInline(db, async () => {
      assert.deepEqual(await db.select(sql, [6], { arrays: true }), [['zwölf 🎉']])
    })
  })
}

test('a query of any kind that reads has the same result on the calling thread', async (t) => {
  const db = await fileDatabase(t)
  const ids = [1, 6, 7]
  const elsewhere: unknown[] = []
  for (const id of ids) elsewhere.push((await Promise.all([db.query(BY_ID, [id]), db.diagnostics()]))[0])
  for (const [at, id] of ids.entries()) {
    await untilInline(db, async () => assert.deepEqual(await db.query(BY_ID, [id]), elsewhere[at]))
  }
  const { commit } = await db.execute('DELETE FROM t WHERE id = 1')
  await untilInline(db, async () => assert.equal((await db.query(BY_ID, [1])).commit, commit))
  for (let round = 0; round < 50; round++) {
    const written = await db.query('INSERT INTO t(a) VALUES (?) RETURNING a', [round])
    assert.deepEqual(written.rows, [{ a: round }])
  }
})

// G401
test('beside a live query, which shows each write, queries run on the calling thread', async (t) => {
  const db = await fileDatabase(t)
  const live = db.stream('SELECT count(*) AS n FROM t')
  const counts: unknown[] = []
  const stop = live.subscribe(([row]) => counts.push(row?.n))
  await untilInline(db, quickOf(db))
  await db.execute('DELETE FROM t WHERE id > 1')
  while (counts.at(-1) !== 1) await db.selectOne(BY_ID, [1])
  assert.deepEqual(await db.selectOne(BY_ID, [1]), { id: 1, a: 'one' })
  stop()
})

// G404
test('timers and other events have their turns beside a loop of awaited queries', async (t) => {
  const db = await fileDatabase(t)
  await untilInline(db, quickOf(db))
  const fired: string[] = []
  setImmediate(() => fired.push('immediate'))
  setTimeout(() => fired.push('timeout'), 1)
  while (fired.length < 2) await db.selectOne(BY_ID, [1])
})

// G402
test('a query shows what was written before it', async (t) => {
  const db = await fileDatabase(t)
  await untilInline(db, quickOf(db))
  const before = await ran(db)
  let n = 0
  do {
    n++
    await db.execute('UPDATE t SET a = ? WHERE id = 1', [n])
    assert.deepEqual(await db.selectOne(BY_ID, [1]), { id: 1, a: n })
    assert.deepEqual(await db.selectOne(BY_ID, [1]), { id: 1, a: n })
  } while ((await ran(db)) < before + 100)
})

// G404
test('the queries of a tick are answered in their order, with and without a write between them', async (t) => {
  // Several readers may answer in another order.
  const db = await fileDatabase(t, { readers: 1 })
  await untilInline(db, quickOf(db))
  for (let round = 0; round < 50; round++) {
    const order: number[] = []
    const calls = [1, 2, 3, 4].map((id) => db.selectOne(BY_ID, [id]).then(() => order.push(id)))
    await Promise.all(calls)
    assert.deepEqual(order, [1, 2, 3, 4])
    const write = db.execute('UPDATE t SET a = ? WHERE id = 1', [round])
    await Promise.all([db.selectOne(BY_ID, [1]), write])
    assert.deepEqual(await db.selectOne(BY_ID, [1]), { id: 1, a: round })
  }
})

// G404
test('the values of an AsyncLocalStorage stay with their calls', async (t) => {
  const db = await fileDatabase(t)
  await untilInline(db, quickOf(db))
  const storage = new AsyncLocalStorage<number>()
  const flow = (number: number) =>
    storage.run(number, async () => {
      for (let calls = 0; calls < 50; calls++) {
        await db.selectOne(BY_ID, [1])
        assert.equal(storage.getStore(), number)
      }
    })
  await flow(1)
  await Promise.all([flow(2), flow(3)])
})

// G404
test('a call that is aborted in its tick is aborted, and the next ones are not', async (t) => {
  const db = await fileDatabase(t)
  await untilInline(db, quickOf(db))
  for (let round = 0; round < 20; round++) {
    const controller = new AbortController()
    const call = db.selectOne(BY_ID, [1], { signal: controller.signal })
    controller.abort()
    await assert.rejects(call, withCode('RESQLITE_ABORTED'))
    assert.deepEqual(await db.selectOne(BY_ID, [1]), { id: 1, a: 'one' })
  }
})

// G403
test('a query that is not quick any more runs elsewhere, and fails there with its error', async (t) => {
  const db = await fileDatabase(t)
  const sql =
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) SELECT max(i) AS i FROM n'
  await untilInline(db, () => db.selectOne(sql, [1]))
  assert.deepEqual(await db.selectOne(sql, [1_000_000]), { i: 1_000_000 })
  const abs = 'SELECT abs(?) AS a'
  await untilInline(db, () => db.selectOne(abs, [-1]))
  await assert.rejects(db.selectOne(abs, [-(2n ** 63n)]), withCode('SQLITE_ERROR'))
  assert.deepEqual(await db.selectOne(abs, [-1]), { a: 1 })
})

// G404
test('traced calls are told that they did not wait', async (t) => {
  const db = await fileDatabase(t)
  const traces: QueryTrace[] = []
  const listener = (trace: unknown) => traces.push(trace as QueryTrace)
  subscribe('tracing:resqlite:query:asyncEnd', listener)
  t.after(() => unsubscribe('tracing:resqlite:query:asyncEnd', listener))
  await untilInline(db, quickOf(db))
  assert.ok(traces.some(({ queueTime }) => queueTime === 0))
  assert.ok(traces.every(({ queueTime }) => queueTime !== undefined && queueTime >= 0))
})

// G404
test('a closed database answers no query', async (t) => {
  const db = await fileDatabase(t)
  await untilInline(db, quickOf(db))
  const closed = db.close()
  await assert.rejects(db.selectOne(BY_ID, [1]), withCode('RESQLITE_CLOSED'))
  await closed
})

// G401
test('with the option, every query runs elsewhere', async (t) => {
  const db = await fileDatabase(t, { inline: false })
  for (let calls = 0; calls < 200; calls++) await db.selectOne(BY_ID, [1])
  assert.equal(await ran(db), 0)
})
