import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
import type { CommitTrace, LiveTrace, QueryTrace, TransactionTrace } from 'resqlite'
import { withCode } from './support/errors'
import { quiet, Watch } from './support/live'
import { tempDatabase } from './support/temp'

type AnyTrace = QueryTrace & TransactionTrace & CommitTrace
type Name = 'query' | 'transaction' | 'commit'
const EVENTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

/** Records what a channel publishes until the test ends: the events, and the traces of `asyncEnd`. */
function listen(t: TestContext, name: Name): { events: string[]; traces: AnyTrace[] } {
  const events: string[] = []
  const traces: AnyTrace[] = []
  const subscriber = Object.fromEntries(
    EVENTS.map((event) => [
      event,
      (trace: unknown) => {
        events.push(event)
        if (event === 'asyncEnd') traces.push(trace as AnyTrace)
      },
    ]),
  )
  const channel = tracingChannel(`resqlite:${name}`)
  channel.subscribe(subscriber as never)
  t.after(() => channel.unsubscribe(subscriber as never))
  return { events, traces }
}

/** A trace without its times, which must be times. */
function timeless({ duration, queueTime, ...rest }: AnyTrace): object {
  for (const time of [duration, queueTime ?? 0]) assert.ok(typeof time === 'number' && time >= 0)
  return rest
}

const INSERT = 'INSERT INTO t VALUES (?)'

// G220
test('every call that runs SQL is traced with its method, SQL, rows and changes, without parameters', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x PRIMARY KEY)')
  const { events, traces } = listen(t, 'query')
  await db.execute(`${INSERT} RETURNING x`, ['secret'])
  assert.deepEqual(events, ['start', 'end', 'asyncStart', 'asyncEnd'])
  await db.executeBatch(INSERT, [[1], [2]])
  await db.exec('DELETE FROM t WHERE x = 2')
  await db.batch([{ sql: INSERT, params: [3] }, 'SELECT x FROM t', 'DELETE FROM t WHERE x = 3'])
  await db.query('SELECT x FROM t')
  await db.select('SELECT * FROM t')
  await db.selectOne('SELECT * FROM t')
  await db.selectOne('SELECT * FROM t WHERE x = 7')
  await db.selectBytes('SELECT * FROM t')
  await db.snapshot((snap) => snap.select('SELECT x FROM t'))
  for await (const _ of db.iterate('SELECT x FROM t', [], { batchSize: 1 }));
  const database = db.path
  assert.deepEqual(traces.map(timeless), [
    { database, method: 'execute', sql: `${INSERT} RETURNING x`, rows: 1, changes: 1 },
    { database, method: 'executeBatch', sql: INSERT, rows: 0, changes: 2 },
    { database, method: 'exec', sql: 'DELETE FROM t WHERE x = 2', rows: 0, changes: 1 },
    {
      database,
      method: 'batch',
      sql: `${INSERT}; SELECT x FROM t; DELETE FROM t WHERE x = 3`,
      rows: 3,
      changes: 2,
    },
    { database, method: 'query', sql: 'SELECT x FROM t', rows: 2, changes: 0 },
    { database, method: 'select', sql: 'SELECT * FROM t', rows: 2 },
    { database, method: 'selectOne', sql: 'SELECT * FROM t', rows: 1 },
    { database, method: 'selectOne', sql: 'SELECT * FROM t WHERE x = 7', rows: 0 },
    { database, method: 'selectBytes', sql: 'SELECT * FROM t' },
    { database, method: 'select', sql: 'SELECT x FROM t', rows: 2 },
    { database, method: 'iterate', sql: 'SELECT x FROM t', rows: 2 },
  ])
})

// G220
test('a call that fails publishes its error', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x PRIMARY KEY); INSERT INTO t VALUES (1)')
  const { events, traces } = listen(t, 'query')
  await assert.rejects(db.execute(INSERT, [1]), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  await assert.rejects(db.executeBatch(INSERT, [[1]]), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  await assert.rejects(db.iterate('SELECT x FROM u').next(), withCode('SQLITE_ERROR'))
  assert.deepEqual(
    traces.map(({ method, error }) => [method, (error as { code: string }).code]),
    [
      ['execute', 'SQLITE_CONSTRAINT_PRIMARYKEY'],
      ['executeBatch', 'SQLITE_CONSTRAINT_PRIMARYKEY'],
      ['iterate', 'SQLITE_ERROR'],
    ],
  )
  assert.equal(events.filter((event) => event === 'error').length, 3)
  events.length = 0
  await assert.rejects(db.execute(INSERT, [Symbol('no') as never]), withCode('RESQLITE_PARAMETER'))
  assert.deepEqual(events, ['start', 'error', 'end'])
})

// G220, G221
test('a trace has the time in which a thread was waited for', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const { traces } = listen(t, 'query')
  const { traces: commits } = listen(t, 'commit')
  async function* slowly() {
    yield [1]
    await new Promise(setImmediate)
    await db.select('SELECT 1')
    yield [2]
  }
  await db.executeBatch(INSERT, [[1], [2]])
  await db.executeBatch(INSERT, slowly())
  await db.execute(INSERT, [3])
  await db.exec('DELETE FROM t WHERE x = 2')
  await db.batch([{ sql: INSERT, params: [3] }])
  await db.query('SELECT x FROM t')
  await db.query(INSERT, [4])
  await db.describe('SELECT x FROM t')
  await db.selectBytes('SELECT * FROM t')
  for await (const _ of db.iterate('SELECT x FROM t', [], { batchSize: 1 }));
  await db.snapshot((snap) => snap.select('SELECT x FROM t'))
  await db.transaction(async (tx) => {
    await tx.execute(INSERT, [5])
    await tx.select('SELECT x FROM t')
    for await (const _ of tx.iterate('SELECT x FROM t'));
  })
  assert.equal(traces.length, 15)
  for (const { method, duration = 0, queueTime = -1 } of [...traces, ...commits]) {
    assert.ok(queueTime >= 0 && queueTime <= duration, `${method}: ${queueTime} of ${duration} ms`)
  }
})

// G220, G221
test('a write that waits for a transaction has waited for as long as it was open', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const { traces } = listen(t, 'query')
  const holder = await db.begin()
  const waits = db.execute(INSERT, [1])
  await db.select('SELECT 1') // the write has been handed over, too
  const handedOver = performance.now()
  while (performance.now() < handedOver + 5) await db.select('SELECT 1')
  const freed = performance.now()
  traces.length = 0
  await holder.rollback()
  await waits
  const [{ queueTime = 0 } = {}] = traces
  assert.ok(queueTime > freed - handedOver - 1, `${queueTime} of ${freed - handedOver} ms`)
})

// G220, G221
test('a call that no thread took up has no time in the queue', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const holder = await db.begin()
  const { traces } = listen(t, 'query')
  const controller = new AbortController()
  const aborted = db.execute(INSERT, [1], { signal: controller.signal })
  controller.abort()
  await assert.rejects(aborted, withCode('RESQLITE_ABORTED'))
  assert.deepEqual(
    traces.map(({ queueTime }) => queueTime),
    [undefined],
  )
  await holder.rollback()
})

// G220
test('an iteration that its caller leaves is no error', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x); INSERT INTO t VALUES (1), (2), (3)')
  const { traces } = listen(t, 'query')
  for await (const _ of db.iterate('SELECT x FROM t', [], { batchSize: 2 })) break
  assert.deepEqual(
    traces.map(({ method, rows, error }) => [method, rows, error]),
    [['iterate', 2, undefined]],
  )
})

// G220
test('transactions are traced from the call to their end, with the time that they waited', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const { traces } = listen(t, 'transaction')
  await db.transaction(async (tx) => {
    await tx.transaction(() => {})
    await db.transaction(() => Promise.reject(new Error('inner'))).catch(() => {})
  })
  await db.transaction(() => Promise.reject(new Error('outer'))).catch(() => {})
  const told = ({ method, nested, outcome, queueTime, error }: AnyTrace) => {
    return [method, nested, outcome, queueTime !== undefined, (error as Error | undefined)?.message]
  }
  assert.deepEqual(traces.map(told), [
    ['transaction', true, 'commit', false, undefined],
    ['transaction', true, 'rollback', false, 'inner'],
    ['transaction', false, 'commit', true, undefined],
    ['transaction', false, 'rollback', true, 'outer'],
  ])
  traces.length = 0

  const holder = await db.begin()
  const waits = db.begin({ signal: AbortSignal.timeout(10) })
  await assert.rejects(waits, withCode('RESQLITE_ABORTED'))
  await holder.commit()
  await (await db.begin()).rollback()
  const late = await db.begin({ timeout: 10 })
  while (late.open) await new Promise(setImmediate)
  while (traces.length < 4) await new Promise(setImmediate)
  assert.deepEqual(
    traces
      .map(told)
      .map(([method, , outcome, queued, error]) => [
        method,
        outcome,
        queued,
        (error as string | undefined)?.replace(/ while it waited .*/, ''),
      ]),
    [
      ['begin', 'rollback', false, 'The operation was aborted'],
      ['begin', 'commit', true, undefined],
      ['begin', 'rollback', true, undefined],
      ['begin', 'rollback', true, 'The transaction took longer than 10 ms'],
    ],
  )
})

// G220
test('the COMMIT of a transaction is traced with the number of the commit', async (t) => {
  const schema = `CREATE TABLE p(id INTEGER PRIMARY KEY);
    CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)`
  const db = await tempDatabase(t, schema)
  const { traces } = listen(t, 'commit')
  await db.transaction(async (tx) => {
    await tx.transaction((inner) => inner.execute('INSERT INTO p VALUES (1)'))
  })
  const { lastCommit } = await db.diagnostics()
  await assert.rejects(db.transaction((tx) => tx.execute('INSERT INTO c VALUES (2)')))
  assert.deepEqual(
    traces.map(({ database, commit, error }) => [database, commit, (error as { code?: string })?.code]),
    [
      [db.path, lastCommit, undefined],
      [db.path, undefined, 'SQLITE_CONSTRAINT_FOREIGNKEY'],
    ],
  )
})

// G220
test('a store that is bound to the channel is the context of the body, so calls can know their transaction', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const storage = new AsyncLocalStorage<TransactionTrace>()
  const channel = tracingChannel('resqlite:transaction').start as unknown as {
    bindStore(store: typeof storage): void
    unbindStore(store: typeof storage): void
  }
  channel.bindStore(storage)
  t.after(() => channel.unbindStore(storage))
  const seen: unknown[] = []
  await db.transaction(async (tx) => {
    await tx.select('SELECT 1')
    seen.push(storage.getStore()?.method, storage.getStore()?.nested)
    await tx.transaction(() => void seen.push(storage.getStore()?.nested))
  })
  assert.deepEqual(seen, ['transaction', false, true])
  assert.equal(storage.getStore(), undefined)
})

// G220
test('tracing changes no result', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x PRIMARY KEY)')
  const calls = async (x: number) => {
    const { commit, ...written } = await db.execute(INSERT, [x])
    const batch = await db.executeBatch(INSERT, [[-x]])
    const rows = await db.select('SELECT count(*) > 1 AS many FROM t')
    const value = await db.transaction(() => 'value')
    return { written: { ...written, lastInsertRowid: 0 }, changes: batch.changes, rows, value }
  }
  const plain = await calls(1)
  listen(t, 'query')
  listen(t, 'transaction')
  listen(t, 'commit')
  assert.deepEqual(await calls(2), plain)
})

// G220
test('the error that a caller gets keeps its stack trace while it is traced', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x PRIMARY KEY)')
  const { traces } = listen(t, 'transaction')
  const mine = new Error('mine')
  const stack = mine.stack
  await assert.rejects(
    db.transaction(() => Promise.reject(mine)),
    (error) => error === mine,
  )
  assert.equal(mine.stack, stack)
  assert.equal(traces[0]?.error, mine)
})

// G222
test('a run of a live query that took long is traced, also if it found nothing new', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  const traces: LiveTrace[] = []
  const take = (trace: unknown) => traces.push(trace as LiveTrace)
  subscribe('tracing:resqlite:live:asyncEnd', take)
  t.after(() => unsubscribe('tracing:resqlite:live:asyncEnd', take))
  const slow =
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT max(i) > x FROM n, t'
  const watching = new Watch(db.stream(slow))
  await watching.next()
  await quiet(db)
  traces.length = 0
  await db.execute('UPDATE t SET x = 2')
  await quiet(db)
  const [{ duration, ...rest } = { duration: 0 }] = traces
  assert.deepEqual(rest, { database: db.path, sql: slow, reason: 'columns' })
  assert.ok(duration >= 20)
  assert.equal(watching.values.length, 1)
  watching.stop()
})
