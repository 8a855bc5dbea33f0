import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AbortError } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const TABLE = 'CREATE TABLE t(id INTEGER PRIMARY KEY, x)'
const INSERT = 'INSERT INTO t(id, x) VALUES (?, ?)'

const manySets = (count: number) => Array.from({ length: count }, (_, i) => [i, `value of row ${i}`])

test('executeBatch runs the statement once per set', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const result = await db.executeBatch(INSERT, [
    [1, 'a'],
    [2, 'b'],
  ])
  assert.equal(result.changes, 2)
  assert.equal(result.lastInsertRowid, 2)
  assert.deepEqual(await db.select('SELECT * FROM t', [], { arrays: true }), [
    [1, 'a'],
    [2, 'b'],
  ])
})

test('sets may be named, and come from any iterable', async (t) => {
  const db = await tempDatabase(t, TABLE)
  function* sets() {
    for (let id = 0; id < 3; id++) yield { id, x: id * 2 }
  }
  assert.equal((await db.executeBatch('INSERT INTO t VALUES (:id, :x)', sets())).changes, 3)
  assert.deepEqual(await db.selectOne('SELECT sum(x) AS s FROM t'), { s: 6 })
})

test('no sets change nothing', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.equal((await db.executeBatch(INSERT, [])).changes, 0)
})

test('a batch of many frames is complete', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const result = await db.executeBatch(INSERT, manySets(50_000))
  assert.equal(result.changes, 50_000)
  const check = 'SELECT count(*) AS n, sum(id) AS s, count(DISTINCT x) AS d FROM t'
  assert.deepEqual(await db.selectOne(check), { n: 50_000, s: (50_000 * 49_999) / 2, d: 50_000 })
})

test('if one set fails none has happened', async (t) => {
  const db = await tempDatabase(t, TABLE)
  for (const count of [3, 20_000]) {
    const sets = [...manySets(count), [0, 'again']]
    await assert.rejects(db.executeBatch(INSERT, sets), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
    assert.deepEqual(await db.select('SELECT * FROM t'), [], `${count} sets`)
  }
})

test('a set that fails early stops a large batch', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(
    db.executeBatch(INSERT, [[0, ''], ...manySets(100_000)]),
    withCode('SQLITE_CONSTRAINT_PRIMARYKEY'),
  )
  assert.equal((await db.executeBatch(INSERT, manySets(10))).changes, 10)
})

test('a wrong parameter is named with its set, and nothing has happened', async (t) => {
  const db = await tempDatabase(t, TABLE)
  for (const count of [17, 20_000]) {
    const sets: unknown[][] = manySets(count)
    sets[count - 1] = [1, undefined]
    await assert.rejects(db.executeBatch(INSERT, sets as never), (error: Error) => {
      assert.ok(error instanceof TypeError)
      return withCode('RESQLITE_PARAMETER', `set ${count}, parameter 2`)(error)
    })
    assert.deepEqual(await db.select('SELECT * FROM t'), [])
  }
})

test('a set with the wrong number of parameters fails the batch', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(db.executeBatch(INSERT, [[1, 2], [3]]), withCode('RESQLITE_PARAMETER'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('params that are no list of sets are refused', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(
    db.executeBatch(INSERT, { a: 1 } as never),
    withCode('RESQLITE_PARAMETER', 'paramSets'),
  )
  await assert.rejects(
    db.executeBatch(INSERT, [1, 2] as never),
    withCode('RESQLITE_PARAMETER', 'set 1, params'),
  )
})

test('other calls go on while a large batch is under way', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const batch = db.executeBatch(INSERT, manySets(50_000))
  const reads = await Promise.all(
    Array.from({ length: 20 }, () => db.selectOne('SELECT count(*) AS n FROM t')),
  )
  for (const read of reads) assert.ok(read?.n === 0 || read?.n === 50_000)
  await Promise.all([
    batch,
    db.execute('INSERT INTO t VALUES (-1, 0)'),
    db.executeBatch('INSERT INTO t VALUES (?, 0)', [[-2]]),
  ])
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 50_002 })
})

test('large batches at the same time are each complete', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(batch, i)')
  const results = await Promise.all(
    Array.from({ length: 4 }, (_, batch) =>
      db.executeBatch(
        'INSERT INTO t VALUES (?, ?)',
        Array.from({ length: 20_000 }, (_, i) => [batch, i]),
      ),
    ),
  )
  assert.ok(results.every((result) => result.changes === 20_000))
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 80_000 })
})

test('an aborted batch has not happened', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const controller = new AbortController()
  function* sets() {
    for (let i = 0; i < 200_000; i++) {
      if (i === 50_000) controller.abort('enough')
      yield [i, 'some text']
    }
  }
  await assert.rejects(
    db.executeBatch(INSERT, sets(), { signal: controller.signal }),
    (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough',
  )
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('inside a transaction a failed batch leaves what was before', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.execute(INSERT, [-1, 'kept'])
    await assert.rejects(
      tx.executeBatch(INSERT, [...manySets(20_000), [0, '']]),
      withCode('SQLITE_CONSTRAINT_PRIMARYKEY'),
    )
    assert.equal((await db.executeBatch(INSERT, manySets(10))).changes, 10)
  })
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 11 })
})
