import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import type { AbortError, Database } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const COUNT = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ?) SELECT x FROM c'

for (const batchSize of [undefined, 1, 7, 2_500, 100_000]) {
  // G66
  test(`iterate gives all rows in order with batchSize ${batchSize}`, async (t) => {
    const db = await tempDatabase(t)
    const rows = batchSize === 1 ? 500 : 5_000
    let expected = 0
    for await (const row of db.iterate<{ x: number }>(COUNT, [rows], { batchSize })) {
      assert.equal(row.x, ++expected)
    }
    assert.equal(expected, rows)
  })
}

test('iterate gives nothing when there are no rows', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate('SELECT 1 WHERE 0')
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
})

// G66
test('iterate reads one committed state, whatever is written meanwhile', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  await db.executeBatch(
    'INSERT INTO t VALUES (?)',
    Array.from({ length: 3_000 }, (_, i) => [i]),
  )
  let rows = 0
  for await (const _ of db.iterate('SELECT x FROM t', [], { batchSize: 10 })) {
    if (rows++ === 0) await db.exec('DELETE FROM t')
  }
  assert.equal(rows, 3_000)
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

// G66
test('it starts with the first next', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const iterator = db.iterate('SELECT x FROM t')
  await db.execute('INSERT INTO t VALUES (1)')
  assert.deepEqual(await iterator.next(), { value: { x: 1 }, done: false })
})

test('leaving the loop releases the thread', async (t) => {
  const db = await tempDatabase(t, '', { readers: 2 })
  for (let i = 0; i < 10; i++) {
    for await (const _ of db.iterate(COUNT, [1_000_000], { batchSize: 5 })) break
  }
  assert.deepEqual(await db.select('SELECT 1 AS x'), [{ x: 1 }])
})

// G69
test('an error in the loop releases the thread and reaches the caller', async (t) => {
  const db = await tempDatabase(t, '', { readers: 1 })
  const loop = async () => {
    for await (const _ of db.iterate(COUNT, [1_000_000])) throw new Error('mine')
  }
  await assert.rejects(loop(), /mine/)
  assert.deepEqual(await db.select('SELECT 1 AS x'), [{ x: 1 }])
})

test('return before the first next runs nothing', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate('this is not SQL')
  assert.deepEqual(await iterator.return?.(), { value: undefined, done: true })
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
})

test('throw ends it and rejects with the error', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate(COUNT, [5_000])
  await iterator.next()
  await assert.rejects(iterator.throw?.(new Error('mine')) as Promise<unknown>, /mine/)
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
})

test('a wrong statement rejects the first next, and the iteration is over', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate('SELECT nope')
  await assert.rejects(iterator.next(), withCode('SQLITE_ERROR', 'nope'))
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
})

// G69
test('an error in a later row comes after the rows before it', async (t) => {
  const db = await tempDatabase(t)
  const sql = `SELECT abs(CASE WHEN x = 500 THEN -9223372036854775808 ELSE x END) AS y FROM (${COUNT})`
  let rows = 0
  const loop = async () => {
    for await (const _ of db.iterate(sql, [1_000], { batchSize: 100 })) rows++
  }
  await assert.rejects(loop(), /integer overflow/)
  assert.equal(rows, 400)
})

test('a signal ends it', async (t) => {
  const db = await tempDatabase(t, '', { readers: 1 })
  const controller = new AbortController()
  const iterator = db.iterate(COUNT, [1_000_000], { signal: controller.signal, batchSize: 10 })
  await iterator.next()
  controller.abort('enough')
  await assert.rejects(
    iterator.next(),
    (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough',
  )
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  assert.deepEqual(await db.select('SELECT 1 AS x'), [{ x: 1 }])
})

// G74
test('a signal that has fired before runs nothing', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate('SELECT 1', [], { signal: AbortSignal.abort() })
  await assert.rejects(iterator.next(), withCode('RESQLITE_ABORTED'))
})

test('options are checked at the call', async (t) => {
  const db = await tempDatabase(t)
  for (const batchSize of [0, -1, 1.5, '10', Number.POSITIVE_INFINITY]) {
    assert.throws(
      () => db.iterate('SELECT 1', [], { batchSize: batchSize as number }),
      withCode('RESQLITE_OPTION', 'batchSize must be an integer'),
    )
  }
})

test('several iterators run side by side', async (t) => {
  const db = await tempDatabase(t, '', { readers: 3 })
  const sums = await Promise.all(
    [1, 2, 3].map(async (factor) => {
      let sum = 0
      for await (const { x } of db.iterate<{ x: number }>(COUNT, [2_000 * factor], { batchSize: 100 }))
        sum += x
      return sum
    }),
  )
  assert.deepEqual(
    sums,
    [1, 2, 3].map((factor) => (2_000 * factor * (2_000 * factor + 1)) / 2),
  )
})

// G67
test('parameters are read at the call, and may be modified before the first next', async (t) => {
  const db = await tempDatabase(t)
  const bytes = Buffer.from('before')
  const list: unknown[] = [1, bytes]
  const named: Record<string, unknown> = { a: 1 }
  const iterators = [
    db.iterate('SELECT ? AS a, ? AS b', list as never),
    db.iterate('SELECT :a AS a', named as never),
  ]
  bytes.write('behind')
  list[0] = 2
  list.pop()
  named.a = 2
  const rows = await Promise.all(iterators.map(async (iterator) => (await iterator.next()).value))
  assert.deepEqual(rows, [{ a: 1, b: Buffer.from('before') }, { a: 1 }])
})

// G67
test('parameters that cannot be bound are refused at the call', async (t) => {
  const db = await tempDatabase(t)
  assert.throws(
    () => db.iterate('SELECT ?', [undefined as never]),
    withCode('RESQLITE_PARAMETER', 'parameter 1'),
  )
  assert.throws(
    () => db.iterate('SELECT ?', 'x' as never),
    withCode('RESQLITE_PARAMETER', 'params is a string'),
  )
})

/** A query that returns no row for a very long time. */
const SLOW = `SELECT x FROM (${COUNT}) WHERE x < 0`
const LONG = [1_000_000_000_000]
const over = { value: undefined, done: true }

/** Waits until no iterator or snapshot holds a thread. */
async function noLeases(db: Database): Promise<void> {
  for (;;) {
    const { leases } = await db.diagnostics()
    if (leases.open + leases.queued + leases.holders.length === 0) return
  }
}

// G70
test('return interrupts the query that a next waits for, and that next is done', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate(SLOW, LONG)
  const pending = [iterator.next(), iterator.next()]
  assert.deepEqual(await iterator.return?.(), over)
  assert.deepEqual(await Promise.all(pending), [over, over])
  assert.deepEqual(await iterator.next(), over)
  await noLeases(db)
})

// G70
test('throw interrupts the query that a next waits for, too', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate(SLOW, LONG)
  const pending = iterator.next()
  await assert.rejects(iterator.throw?.(new Error('mine')) as Promise<unknown>, /mine/)
  assert.deepEqual(await pending, over)
  await noLeases(db)
})

for (const error of [undefined, new Error('mine')]) {
  // G70
  test(`a stream that is destroyed ${error ? 'with an error' : ''} while the query looks for its first row ends it`, async (t) => {
    const db = await tempDatabase(t)
    const stream = Readable.from(db.iterate(SLOW, LONG))
    stream.on('error', (told) => assert.equal(told, error))
    stream.resume()
    while ((await db.diagnostics()).leases.open === 0);
    stream.destroy(error)
    await once(stream, 'close').catch((told) => assert.equal(told, error))
    await noLeases(db)
  })
}

// G70
test('a second return waits until the thread is released', async (t) => {
  const db = await tempDatabase(t)
  const iterator = db.iterate(COUNT, [1_000_000])
  await iterator.next()
  const returns = [iterator.return?.(), iterator.return?.()]
  assert.deepEqual(await Promise.all(returns), [over, over])
})

// G72
test('iterators inside iterators do not wait for each other', async (t) => {
  const db = await tempDatabase(t)
  const nested = async () => {
    let rows = 0
    for await (const { x } of db.iterate<{ x: number }>(COUNT, [2])) {
      for await (const _ of db.iterate(COUNT, [x])) rows++
    }
    return rows
  }
  assert.deepEqual(await Promise.all(Array.from({ length: 40 }, nested)), Array(40).fill(3))
})
