import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResqliteError, SqliteError } from 'resqlite'
import { withCode } from './support/errors'
import { Watch } from './support/live'
import { tempDatabase } from './support/temp'

const SCHEMA = 'CREATE TABLE t(x); INSERT INTO t VALUES (1)'
const SQL = 'SELECT * FROM t'

test('a live query whose first run fails ends with its error', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream('SELECT nope FROM t')
  const error = (await new Watch(live).error()) as SqliteError
  assert.deepEqual([error.code, error.sql, error.offset], ['SQLITE_ERROR', 'SELECT nope FROM t', 7])
  assert.equal((await db.diagnostics()).streams.open, 0)
  await db.exec('ALTER TABLE t ADD COLUMN nope DEFAULT 5')
  assert.deepEqual(await new Watch(live).value(), [{ nope: 5 }], 'it can be tried again')
})

test('the stack of an error leads to the subscriber', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  function whereItIsSubscribed() {
    return new Watch(db.stream('SELECT nope FROM t'))
  }
  const { stack } = await whereItIsSubscribed().error()
  assert.match(stack as string, /^SqliteError: no such column: nope\n/)
  assert.match(stack as string, /whereItIsSubscribed/)
})

const never: Record<string, [sql: string, params: number[], code: string]> = {
  'with too few parameters': ['SELECT ?', [], 'RESQLITE_PARAMETER'],
  'that writes': ['DELETE FROM t', [], 'RESQLITE_READ_ONLY'],
  'of two statements': ['SELECT 1; SELECT 2', [], 'RESQLITE_STATEMENT'],
  'of no statement': ['-- nothing', [], 'RESQLITE_STATEMENT'],
}
for (const [which, [sql, params, code]] of Object.entries(never)) {
  test(`a live query ${which} ends with an error`, async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const error = (await new Watch(db.stream(sql, params)).error()) as SqliteError
    assert.equal(error.code, code)
    assert.deepEqual(await db.select(SQL), [{ x: 1 }])
  })
}

// G126
test('dropping a table is an error, and the live query recovers when the table is back', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const watching = new Watch(live)
  await watching.next()
  await db.exec('DROP TABLE t')
  assert.match((await watching.error()).message, /no such table: t/)
  assert.deepEqual(live.current, [{ x: 1 }])
  await db.exec('CREATE TABLE t(y, z)')
  assert.deepEqual(await watching.value(), [])
  await db.execute('INSERT INTO t VALUES (2, 3)')
  assert.deepEqual(await watching.value(), [{ y: 2, z: 3 }])
  assert.equal(live.stats.errors, 1)
})

// G126
test('recovery causes an emission even when the result is the one before the error', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream(SQL))
  const before = await watching.value()
  await db.exec('ALTER TABLE t RENAME TO u')
  await watching.error()
  await db.exec('ALTER TABLE u RENAME TO t')
  const after = await watching.value()
  assert.deepEqual(after, [{ x: 1 }])
  assert.equal(after[0], before[0])
})

test('a subscriber that joins after a failure gets the last value and the error', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream(SQL))
  await watching.next()
  await db.exec('DROP TABLE t')
  await watching.error()
  const late = new Watch(db.stream(SQL))
  assert.deepEqual(await late.value(), [{ x: 1 }])
  assert.match((await late.error()).message, /no such table: t/)
})

// G118
test('new columns are in the rows that follow', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream(SQL))
  await watching.next()
  await db.exec('ALTER TABLE t ADD COLUMN y DEFAULT 7')
  assert.deepEqual(await watching.value(), [{ x: 1, y: 7 }])
  await db.exec('ALTER TABLE t DROP COLUMN x')
  assert.deepEqual(await watching.value(), [{ y: 7 }])
})

// G126
test('an error in a row leaves the value as it was', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await db.executeBatch(
    'INSERT INTO t VALUES (?)',
    Array.from({ length: 3000 }, (_, i) => [i]),
  )
  const live = db.stream('SELECT abs(x) AS x FROM t')
  const watching = new Watch(live)
  const before = await watching.value()
  await db.transaction(async (tx) => {
    await tx.execute('UPDATE t SET x = x + 1')
    await tx.execute('INSERT INTO t VALUES (-9223372036854775807 - 1)')
  })
  assert.match((await watching.error()).message, /integer overflow/)
  assert.equal(live.current?.length, 3001)
  assert.deepEqual(live.current?.[0], before[0])
  await db.execute('DELETE FROM t WHERE x < -10')
  assert.deepEqual(await watching.value(), await db.select('SELECT abs(x) AS x FROM t'))
})

test('an integer that a number cannot hold is an error that names the column', async (t) => {
  const db = await tempDatabase(t, SCHEMA, { integers: 'number' })
  const watching = new Watch(db.stream(SQL))
  await watching.next()
  await db.execute('INSERT INTO t VALUES (9007199254740993)')
  assert.match((await watching.error()).message, /"x"|column x/)
  await db.execute('DELETE FROM t WHERE x > 1')
  assert.deepEqual(await watching.value(), [{ x: 1 }])
})

// G130
test('closing the database calls error callbacks and nothing else', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  live.subscribe(() => {})
  const watching = new Watch(live)
  await watching.next()
  const [error] = await Promise.all([watching.error(), db.close()])
  assert.ok(withCode('RESQLITE_CLOSED')(error))
  assert.throws(() => live.subscribe(() => {}), withCode('RESQLITE_CLOSED'))
  assert.throws(() => db.stream(SQL), withCode('RESQLITE_CLOSED'))
  await assert.rejects(db.explainStream(SQL), withCode('RESQLITE_CLOSED'))
  assert.equal(live.current, undefined)
})

// G81
test('an error callback that subscribes again during the closing is refused, and close resolves', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const refusals: unknown[] = []
  const subscribe = (): unknown =>
    live.subscribe(
      () => {},
      () => {
        try {
          subscribe()
        } catch (error) {
          refusals.push((error as ResqliteError).code)
          throw error // as one that does not look for this: it is no uncaught exception
        }
      },
    )
  subscribe()
  subscribe()
  await new Watch(live).next()
  await db.close()
  assert.deepEqual(refusals, ['RESQLITE_CLOSED', 'RESQLITE_CLOSED'])
})

// G81
test('inside the error callback of a closing every method is refused', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const codes: unknown[] = []
  const attempt = (call: () => unknown) => {
    try {
      const result = call()
      if (result instanceof Promise) result.catch((error) => codes.push(error.code))
    } catch (error) {
      codes.push((error as ResqliteError).code)
    }
  }
  const other = db.stream('SELECT 2')
  await new Watch(other).next()
  const live = db.stream(SQL)
  const told = new Promise<void>((resolve) => {
    live.subscribe(
      () => {},
      () => {
        for (const call of [
          () => db.select(SQL),
          () => db.iterate(SQL),
          () => db.snapshot(async () => {}),
          () => db.transaction(async () => {}),
          () => db.stream(SQL),
          () => other.subscribe(() => {}),
          () => other[Symbol.asyncIterator]().next(),
        ])
          attempt(call)
        resolve()
      },
    )
  })
  await new Watch(live).next()
  await Promise.all([told, db.close()])
  assert.deepEqual(codes, Array(7).fill('RESQLITE_CLOSED'))
})
