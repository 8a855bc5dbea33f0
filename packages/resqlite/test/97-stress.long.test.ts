import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gate, withCode } from './support/errors'
import { stress } from './support/process-stress'
import { random } from './support/random'
import { tempDatabase, tempFile } from './support/temp'

/** `scripts/soak-stress.mjs` runs as many with one seed after another for ten minutes. */
const STEPS = 1000

// G28
test('many callers that do everything at once find what they have written, and nothing else', async (t) => {
  const { seed } = random()
  t.diagnostic(`RESQLITE_SEED=${seed}`)
  await stress(tempFile(t), seed, { actors: 12, steps: STEPS })
})

test('a column that changes its type between large results is decoded right', async (t) => {
  const db = await tempDatabase(t)
  const numbers = 'WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 3000)'
  const types: [string, (n: number) => unknown][] = [
    ['n', (n) => n],
    ["'text ' || n", (n) => `text ${n}`],
    ['n + 0.5', (n) => n + 0.5],
    ["CAST('blob ' || n AS BLOB)", (n) => Buffer.from(`blob ${n}`)],
    ['NULL', () => null],
    ['9007199254740993 + 2 * n', (n) => 9007199254740993n + 2n * BigInt(n)],
    ["CASE n % 3 WHEN 0 THEN n WHEN 1 THEN 'text' END", (n) => [n, 'text', null][n % 3]],
  ]
  for (const [expression, value] of [...types, ...types.reverse()]) {
    const rows = await db.select(`${numbers} SELECT ${expression} AS x FROM c`)
    assert.deepEqual(
      rows,
      Array.from({ length: 3000 }, (_, i) => ({ x: value(i + 1) })),
    )
  }
})

// G61
test('calls that the body of an aborted transaction still makes are refused, not run outside of it', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const controller = new AbortController()
  const late: Promise<PromiseSettledResult<unknown>[]>[] = []
  const transaction = db.transaction(
    async (tx) => {
      await tx.execute('INSERT INTO t VALUES (1)')
      controller.abort()
      const calls = [
        tx.execute('INSERT INTO t VALUES (2)'),
        db.execute('INSERT INTO t VALUES (3)'),
        db.transaction(async () => assert.fail('must not run')),
      ]
      late.push(Promise.allSettled(calls))
    },
    { signal: controller.signal },
  )
  await assert.rejects(transaction, withCode('RESQLITE_ABORTED'))
  const codes = (await Promise.all(late)).flat().map((call) => call.status === 'rejected' && call.reason.code)
  assert.deepEqual(codes, ['RESQLITE_TRANSACTION', 'RESQLITE_TRANSACTION', 'RESQLITE_TRANSACTION'])
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

// G61
test('calls that the body of a nested transaction still makes after the end of all are refused', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const controller = new AbortController()
  const over = gate()
  const late = gate<Promise<unknown>>()
  const transaction = db.transaction(
    (tx) =>
      tx.transaction(async () => {
        controller.abort()
        await over.promise
        late.open(Promise.allSettled([db.execute('INSERT INTO t VALUES (1)')]))
      }),
    { signal: controller.signal },
  )
  await assert.rejects(transaction, withCode('RESQLITE_ABORTED'))
  over.open()
  const [call] = (await late.promise) as [PromiseRejectedResult]
  assert.equal(call.status === 'rejected' && call.reason.code, 'RESQLITE_TRANSACTION')
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

// G61
test('cancelling transactions at any moment never leaves one open', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  for (let round = 0; round < 2000; round++) {
    const controller = new AbortController()
    const given = db.transaction((tx) => tx.execute('INSERT INTO t VALUES (1)'), {
      signal: controller.signal,
    })
    let steps = round % 7
    const next = round % 2 === 0 ? setImmediate : queueMicrotask
    const step = () => void (steps-- > 0 ? next(step) : controller.abort())
    step()
    await Promise.allSettled([given])
  }
  await db.transaction((tx) => tx.execute('DELETE FROM t'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})
