import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCode } from './support/errors'
import { stress } from './support/process-stress'
import { random } from './support/random'
import { tempDatabase, tempFile } from './support/temp'

test('many callers that do everything at once find what they have written, and nothing else', async (t) => {
  const { seed } = random()
  t.diagnostic(`RESQLITE_SEED=${seed}`)
  await stress(tempFile(t), seed, { actors: 12, steps: 200 })
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

test('what the body of an aborted transaction still asks for is refused, not done outside of it', async (t) => {
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
