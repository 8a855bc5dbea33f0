import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { SqliteError } from 'resqlite'
import { withCode } from './support/errors'
import { random } from './support/random'
import { tempDatabase } from './support/temp'

const COUNT = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ?) SELECT x FROM c'

// G23
test('select gives plain objects in the order of the query', async (t) => {
  const db = await tempDatabase(
    t,
    "CREATE TABLE t(id, name); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
  )
  const rows = await db.select('SELECT id, name FROM t ORDER BY id DESC')
  assert.deepEqual(rows, [
    { id: 3, name: 'c' },
    { id: 2, name: 'b' },
    { id: 1, name: 'a' },
  ])
  assert.equal(Object.getPrototypeOf(rows[0]), Object.prototype)
})

// G34
test('select gives an empty array when there are no rows', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual(await db.select('SELECT 1 WHERE 0'), [])
  assert.deepEqual(await db.select('SELECT 1 WHERE 0', [], { arrays: true }), [])
})

// G23
test('arrays: rows are arrays, and columns with one name are all there', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual(await db.select("SELECT 1 AS a, 'x' AS a, NULL", [], { arrays: true }), [[1, 'x', null]])
  assert.deepEqual(await db.selectOne('SELECT 1, 2', [], { arrays: true }), [1, 2])
})

test('selectOne gives the first row or undefined', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual(await db.selectOne('SELECT column1 AS x FROM (VALUES (1), (2))'), { x: 1 })
  assert.equal(await db.selectOne('SELECT 1 WHERE 0'), undefined)
})

// G34
test('a large result is complete and in order', async (t) => {
  const db = await tempDatabase(t)
  const rows = await db.select<{ x: number; t: string }>(
    `SELECT x, 'row ' || x AS t FROM (${COUNT})`,
    [100_000],
  )
  assert.equal(rows.length, 100_000)
  const wrong = rows.findIndex((row, i) => row.x !== i + 1 || row.t !== `row ${i + 1}`)
  assert.equal(wrong, -1)
})

// G33
test('the event loop turns while a large result is decoded', async (t) => {
  const db = await tempDatabase(t)
  let turns = 0
  const count = (): void => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  const rows = await db.select(
    `SELECT x, 'a text for row ' || x AS t, x * 0.5 AS r FROM (${COUNT})`,
    [300_000],
  )
  clearImmediate(immediate)
  assert.equal(rows.length, 300_000)
  assert.ok(turns >= 5, `${turns} turns`)
})

// G24
test('a column may change its type from row to row', async (t) => {
  const db = await tempDatabase(t)
  const { pick, int, seed } = random()
  const makers = [
    () => null,
    () => int(9),
    () => int(9) + 0.5,
    () => 2n ** 61n,
    () => 'tï',
    () => '日本',
    () => Buffer.from('b'),
  ]
  const rows = Array.from({ length: 5_000 }, (_, id) => [id, (id >> 8) % 2 === 0 ? id : pick(makers)()])
  await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, v)')
  await db.executeBatch('INSERT INTO t VALUES (?, ?)', rows)
  assert.deepEqual(await db.select('SELECT * FROM t ORDER BY id', [], { arrays: true }), rows, `seed ${seed}`)
})

// G34
test('values of many megabytes arrive complete', async (t) => {
  const db = await tempDatabase(t)
  const text = 'mégabyte '.repeat(500_000)
  const blob = Buffer.alloc(5_000_000, 'blob')
  const row = await db.selectOne<{ t: string; b: Buffer }>('SELECT ? AS t, ? AS b', [text, blob])
  assert.ok(row?.t === text)
  assert.ok(blob.equals(row.b))
})

// G28
test('many concurrent selects each get their own result', async (t) => {
  const db = await tempDatabase(t)
  const answers = await Promise.all(
    Array.from({ length: 2_000 }, (_, i) => db.select(`SELECT ? AS x, ${i % 50} AS y`, [i])),
  )
  answers.forEach((rows, i) => {
    assert.deepEqual(rows, [{ x: i, y: i % 50 }])
  })
})

// G30
test('a select sees what was written before it was called', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  for (let i = 1; i <= 200; i++) {
    await db.execute('INSERT INTO t VALUES (?)', [i])
    assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: i })
  }
})

// G36
test('a known statement sees new columns', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a); INSERT INTO t VALUES (1)')
  assert.deepEqual(await db.select('SELECT * FROM t'), [{ a: 1 }])
  await db.exec("ALTER TABLE t ADD COLUMN b DEFAULT 'new'")
  assert.deepEqual(await db.select('SELECT * FROM t'), [{ a: 1, b: 'new' }])
})

// G35
test('select refuses statements that write', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  await assert.rejects(db.select('INSERT INTO t VALUES (1) RETURNING x'), withCode('RESQLITE_READ_ONLY'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

for (const sql of ['', '   -- only a comment', 'SELECT 1; SELECT 2']) {
  // G35, S3
  test(`select refuses ${JSON.stringify(sql)}: it is not one statement`, async (t) => {
    const db = await tempDatabase(t)
    await assert.rejects(db.select(sql), withCode('RESQLITE_STATEMENT'))
  })
}

test('a semicolon and a comment may follow the statement', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual(await db.select('SELECT 1 AS x; -- done'), [{ x: 1 }])
})

test('sql must be a string', async (t) => {
  const db = await tempDatabase(t)
  await assert.rejects(db.select(undefined as never), withCode('RESQLITE_STATEMENT', 'sql must be a string'))
  await assert.rejects(db.execute({} as never), withCode('RESQLITE_STATEMENT', 'sql must be a string'))
})

test('unknown options and wrong values are refused by name', async (t) => {
  const db = await tempDatabase(t)
  const select = (options: unknown) => db.select('SELECT 1', [], options as never)
  await assert.rejects(select({ array: true }), withCode('RESQLITE_OPTION', 'select: unknown option "array"'))
  await assert.rejects(select({ arrays: 1 }), withCode('RESQLITE_OPTION', 'arrays must be true or false'))
  await assert.rejects(select({ signal: {} }), withCode('RESQLITE_OPTION', 'signal must be an AbortSignal'))
  await assert.rejects(select(null), withCode('RESQLITE_OPTION', 'options must be an object'))
})

// G26
test('an error in a query says what and where', async (t) => {
  const db = await tempDatabase(t)
  await assert.rejects(db.select("SELECT 'é', nope FROM sqlite_schema"), (error: SqliteError) => {
    assert.ok(error instanceof SqliteError)
    assert.equal(error.code, 'SQLITE_ERROR')
    assert.match(error.message, /no such column: nope/)
    assert.equal(error.offset, 12)
    return true
  })
})

// G34
test('an error in a later row fails the whole select', async (t) => {
  const db = await tempDatabase(t)
  const sql = `SELECT abs(CASE WHEN x = 5000 THEN -9223372036854775808 ELSE x END) AS y FROM (${COUNT})`
  await assert.rejects(db.select(sql, [10_000]), /integer overflow/)
  assert.equal((await db.select(sql, [100])).length, 100)
})

test('calls are answered while a test fakes the timers of Node', async (t) => {
  const db = await tempDatabase(t)
  mock.timers.enable()
  t.after(() => mock.timers.reset())
  for (let n = 0; n < 10; n++) assert.deepEqual(await db.selectOne('SELECT ? AS n', [n]), { n })
})
