import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCode } from './support/errors'
import { Watch } from './support/live'
import { tempDatabase } from './support/temp'

const SCHEMA = 'CREATE TABLE t(x); INSERT INTO t VALUES (0)'
const SQL = 'SELECT x FROM t'

test('a loop gets the present result and each following one', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const seen: unknown[] = []
  for await (const [row] of db.stream<{ x: number }>(SQL)) {
    seen.push(row?.x)
    if (row?.x === 3) break
    await db.execute('UPDATE t SET x = x + 1')
  }
  assert.deepEqual(seen, [0, 1, 2, 3])
  assert.equal((await db.diagnostics()).streams.open, 0)
})

// G127
test('a slow loop gets the latest result only', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream<{ x: number }>(SQL)
  const iterator = live[Symbol.asyncIterator]()
  await iterator.next()
  const watching = new Watch(live)
  for (let i = 1; i <= 50; i++) await db.execute('UPDATE t SET x = ?', [i])
  await watching.until(([row]) => row?.x === 50)
  assert.deepEqual((await iterator.next()).value, [{ x: 50 }])
  const next = iterator.next()
  await db.execute('UPDATE t SET x = 51')
  assert.deepEqual((await next).value, [{ x: 51 }])
  await iterator.return?.()
  watching.stop()
})

// G127
test('several iterators of one live query are independent', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const [one, two] = [live[Symbol.asyncIterator](), live[Symbol.asyncIterator]()]
  await one.next()
  await db.execute('UPDATE t SET x = 1')
  assert.deepEqual((await one.next()).value, [{ x: 1 }])
  assert.deepEqual((await two.next()).value, [{ x: 1 }])
  await one.return?.()
  await db.execute('UPDATE t SET x = 2')
  assert.deepEqual((await two.next()).value, [{ x: 2 }])
  assert.deepEqual(await one.next(), { value: undefined, done: true })
  await two.return?.()
})

// G127
test('return settles a waiting next', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const iterator = db.stream(SQL)[Symbol.asyncIterator]()
  await iterator.next()
  const waiting = iterator.next()
  assert.deepEqual(await iterator.return?.(), { value: undefined, done: true })
  assert.deepEqual(await waiting, { value: undefined, done: true })
  assert.equal((await db.diagnostics()).streams.open, 0)
})

test('an error in the loop reaches the caller and ends the live query', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const loop = async () => {
    for await (const _ of db.stream(SQL)) throw new Error('mine')
  }
  await assert.rejects(loop(), /mine/)
  assert.equal((await db.diagnostics()).streams.open, 0)
})

// G127
test('an error of the query rejects once, and the iteration is over', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const iterator = db.stream(SQL)[Symbol.asyncIterator]()
  await iterator.next()
  const next = iterator.next()
  await db.exec('DROP TABLE t')
  await assert.rejects(next, withCode('SQLITE_ERROR', 'no such table: t'))
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  assert.equal((await db.diagnostics()).streams.open, 0)
})

test('the error of a failed first run leads to the caller', async (t) => {
  const db = await tempDatabase(t)
  async function whereItIsAwaited() {
    for await (const _ of db.stream('SELECT nope')) break
  }
  await assert.rejects(whereItIsAwaited(), (error: Error & { code?: string; sql?: string }) => {
    assert.deepEqual([error.code, error.sql], ['SQLITE_ERROR', 'SELECT nope'])
    assert.match(error.stack as string, /whereItIsAwaited/)
    return true
  })
  assert.equal((await db.diagnostics()).streams.open, 0)
})

// G130
test('a signal ends a loop with an AbortError', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const controller = new AbortController()
  const loop = async () => {
    for await (const _ of db.stream(SQL, [], { signal: controller.signal })) controller.abort('enough')
  }
  await assert.rejects(loop(), (error: Error) => error.name === 'AbortError' && error.cause === 'enough')
  assert.equal((await db.diagnostics()).streams.open, 0)
})

// G130
test('closing the database ends a loop with an error', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const loop = async () => {
    for await (const _ of db.stream(SQL)) void db.close()
  }
  await assert.rejects(loop(), withCode('RESQLITE_CLOSED'))
})

test('an iterator is an async disposable', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const iterator = db.stream(SQL)[Symbol.asyncIterator]() as AsyncIterableIterator<unknown> & AsyncDisposable
  await iterator.next()
  await iterator[Symbol.asyncDispose]()
  assert.equal((await db.diagnostics()).streams.open, 0)
})
