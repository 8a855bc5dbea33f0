import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Database, LimitError, type QueryLimits, ResqliteError, type SelectOptions } from 'resqlite'
import { ENDLESS, withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const ROWS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, 'text' FROM c"

type Read = (db: Database, sql: string, options: SelectOptions) => Promise<unknown>

const READS: Record<string, Read> = {
  select: (db, sql, options) => db.select(sql, [], options),
  selectOne: (db, sql, options) => db.selectOne(`SELECT * FROM (${sql}) ORDER BY 1`, [], options),
  selectBytes: (db, sql, options) => db.selectBytes(sql, [], options),
  iterate: async (db, sql, options) => {
    for await (const row of db.iterate(sql, [], options)) assert.ok(row)
  },
  'select of a snapshot': (db, sql, options) => db.snapshot((snapshot) => snapshot.select(sql, [], options)),
  'select in a transaction': (db, sql, options) => db.transaction((tx) => tx.select(sql, [], options)),
}

function exceeds(limit: keyof QueryLimits): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof LimitError && error instanceof ResqliteError, String(error))
    assert.deepEqual([error.name, error.code, error.limit], ['LimitError', 'RESQLITE_LIMIT', limit])
    assert.ok(error.message.includes(`limits.${limit}`), error.message)
    return true
  }
}

for (const [name, read] of Object.entries(READS)) {
  // G203, S9
  test(`${name} ends a query that exceeds a limit, and the next one is unharmed`, async (t) => {
    const db = await tempDatabase(t, '', { readers: 1 })
    await assert.rejects(read(db, ENDLESS, { limits: { time: 20 } }), exceeds('time'))
    await assert.rejects(read(db, ENDLESS, { limits: { steps: 100_000 } }), exceeds('steps'))
    if (name !== 'selectOne') {
      await assert.rejects(read(db, ROWS, { limits: { bytes: 300_000 } }), exceeds('bytes'))
    }
    await read(db, 'SELECT 1', { limits: { time: 60_000, steps: 10_000, bytes: 1_000 } })
    assert.deepEqual(await db.select('SELECT 1 AS x'), [{ x: 1 }])
  })
}

// G203, S9
test('a large value counts against the bytes of a result', async (t) => {
  const db = await tempDatabase(t)
  const limits = { bytes: 1_000_000 }
  await assert.rejects(db.selectOne('SELECT zeroblob(2000000)', [], { limits }), exceeds('bytes'))
  assert.equal((await db.select('SELECT zeroblob(900000)', [], { limits })).length, 1)
})

test('parameters are bound as without limits', async (t) => {
  const db = await tempDatabase(t)
  const limits = { steps: 1_000_000 }
  assert.deepEqual(await db.select('SELECT ? AS a, ? AS b', [1, 'x'], { limits }), [{ a: 1, b: 'x' }])
  const rows = db.iterate('SELECT :a AS a', { a: 2n ** 60n }, { limits })
  assert.deepEqual(await rows.next(), { done: false, value: { a: 2n ** 60n } })
})

const wrong: [unknown, string][] = [
  [5, 'limits must be an object, not 5'],
  [{ rows: 1 }, 'limits must be an object of time, steps, bytes (not "rows")'],
  [{ time: 0 }, 'time is a positive number of milliseconds (not 0)'],
  [{ steps: 1.5 }, 'steps is an integer from 1'],
  [{ bytes: '1' }, 'bytes is an integer from 1'],
]

for (const [limits, message] of wrong) {
  // G203
  test(`limits ${JSON.stringify(limits)} are refused by name`, async (t) => {
    const db = await tempDatabase(t)
    const options = { limits } as SelectOptions
    const refused = withCode('RESQLITE_OPTION', message)
    for (const read of Object.values(READS)) {
      await assert.rejects(read(db, 'SELECT 1', options), refused)
    }
  })
}

test('limits that are undefined are not given, and writes have none', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual(await db.select('SELECT 1 AS x', [], { limits: { time: undefined } }), [{ x: 1 }])
  const options = { limits: { time: 1 } } as object
  await assert.rejects(db.execute('SELECT 1', [], options), withCode('RESQLITE_OPTION', 'limits'))
})
