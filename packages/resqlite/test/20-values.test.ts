import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ColumnValue, type Database, type SqlValue, Utf8 } from 'resqlite'
import { withCode } from './support/errors'
import { random } from './support/random'
import { tempDatabase } from './support/temp'

async function roundTrip(db: Database, value: SqlValue): Promise<{ value: ColumnValue; type: string }> {
  const row = await db.selectOne<{ value: ColumnValue; type: string }>(
    'SELECT ?1 AS value, typeof(?1) AS type',
    [value],
  )
  assert.ok(row)
  return row
}

const values: [SqlValue, ColumnValue, string][] = [
  [null, null, 'null'],
  [0, 0, 'integer'],
  [-1, -1, 'integer'],
  [2 ** 31, 2 ** 31, 'integer'],
  [-(2 ** 31), -(2 ** 31), 'integer'],
  [2 ** 53 - 1, 2 ** 53 - 1, 'integer'],
  [2 ** 53, 2 ** 53, 'real'],
  [1.5, 1.5, 'real'],
  [-0, -0, 'real'],
  [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 'real'],
  [5e-324, 5e-324, 'real'],
  [7n, 7, 'integer'],
  [2n ** 53n, 2n ** 53n, 'integer'],
  [2n ** 63n - 1n, 2n ** 63n - 1n, 'integer'],
  [-(2n ** 63n), -(2n ** 63n), 'integer'],
  [true, 1, 'integer'],
  [false, 0, 'integer'],
  ['', '', 'text'],
  ['a\0b', 'a\0b', 'text'],
  ['ÿ', 'ÿ', 'text'],
  ['日本 😀', '日本 😀', 'text'],
  ['\ud800', '\ufffd', 'text'],
  [new Utf8(Buffer.from('日本')), '日本', 'text'],
  [new Uint8Array([0, 255]), Buffer.from([0, 255]), 'blob'],
  [new Uint8Array(), Buffer.alloc(0), 'blob'],
]

for (const [given, expected, type] of values) {
  const shown =
    given instanceof Utf8
      ? `a Utf8 of ${given}`
      : typeof given === 'bigint'
        ? `${given}n`
        : Object.is(given, -0)
          ? '-0'
          : JSON.stringify(given)
  // G14
  test(`${shown} is stored as ${type} and comes back`, async (t) => {
    const db = await tempDatabase(t)
    const row = await roundTrip(db, given)
    assert.deepEqual(row, { value: expected, type })
    if (typeof expected === 'number') assert.ok(Object.is(row.value, expected))
  })
}

// G24
test('random values come back as they were', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, c)')
  const { pick, int, seed } = random()
  const makers: (() => SqlValue)[] = [
    () => null,
    () => int(100),
    () => int(2 ** 50) - 2 ** 49,
    () => int(1000) + 0.5,
    () => 2n ** 60n + BigInt(int(1000)),
    () => 'x'.repeat(int(60)),
    () => 'é😀'.repeat(int(30)),
    () => Buffer.alloc(int(50), int(256)),
  ]
  const rows = Array.from({ length: 3_000 }, (_, id) => [
    id,
    ...Array.from({ length: 3 }, () => pick(makers)()),
  ])
  await db.executeBatch('INSERT INTO t VALUES (?, ?, ?, ?)', rows)
  assert.deepEqual(await db.select('SELECT * FROM t ORDER BY id', [], { arrays: true }), rows, `seed ${seed}`)
})

// G15
test("integers: 'bigint' makes every integer a bigint", async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)', { integers: 'bigint' })
  assert.deepEqual(await db.selectOne('SELECT 1 AS a, 1.5 AS b, NULL AS c'), { a: 1n, b: 1.5, c: null })
  const { lastInsertRowid } = await db.execute('INSERT INTO t VALUES (1)')
  assert.equal(lastInsertRowid, 1n)
})

// G15
test("integers: 'number' refuses what a number cannot hold and names the column", async (t) => {
  const db = await tempDatabase(t, '', { integers: 'number' })
  assert.deepEqual(await db.selectOne('SELECT 9007199254740991 AS big'), { big: 2 ** 53 - 1 })
  await assert.rejects(db.select('SELECT 1 AS fine, 9007199254740992 AS big'), (error: Error) => {
    assert.ok(error instanceof RangeError)
    assert.match(error.message, /big/)
    return true
  })
})

// G14
test('integers beyond the safe ones are bigints, row by row', async (t) => {
  const db = await tempDatabase(t)
  const rows = await db.select(
    'SELECT column1 AS x FROM (VALUES (1), (9007199254740993), (-2147483648), (NULL))',
  )
  assert.deepEqual(rows, [{ x: 1 }, { x: 9007199254740993n }, { x: -2147483648 }, { x: null }])
})

// G18
test('invalid UTF-8 is decoded with U+FFFD', async (t) => {
  const db = await tempDatabase(t)
  const row = await db.selectOne("SELECT CAST(x'61ff62' AS TEXT) AS a, CAST(x'c3' AS TEXT) AS b")
  assert.deepEqual(row, { a: 'a\ufffdb', b: '\ufffd' })
})

// G23
test('of columns with the same name the last one wins', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual(await db.select("SELECT 1 AS a, 'x' AS b, 2 AS a"), [{ a: 2, b: 'x' }])
})

// G23
test('a column called __proto__ is an ordinary one', async (t) => {
  const db = await tempDatabase(t)
  const row = await db.selectOne('SELECT 5 AS "__proto__"')
  assert.equal(Object.getPrototypeOf(row), Object.prototype)
  assert.equal(Object.getOwnPropertyDescriptor(row, '__proto__')?.value, 5)
})

// G19
test('a BLOB belongs to the caller', async (t) => {
  const db = await tempDatabase(t)
  const sql = "SELECT x'010203' AS b"
  const first = await db.selectOne<{ b: Buffer }>(sql)
  assert.ok(Buffer.isBuffer(first?.b))
  first.b.fill(0)
  assert.deepEqual(await db.selectOne(sql), { b: Buffer.from([1, 2, 3]) })
  assert.deepEqual(first.b, Buffer.alloc(3))
})

// G22
test('parameters can be numbered, named, and named with their prefix', async (t) => {
  const db = await tempDatabase(t)
  assert.deepEqual(await db.selectOne('SELECT ?2 AS a, ?1 AS b', [1, 2]), { a: 2, b: 1 })
  const named = 'SELECT :a AS a, @b AS b, $c AS c'
  assert.deepEqual(await db.selectOne(named, { a: 1, b: 2, c: 3 }), { a: 1, b: 2, c: 3 })
  assert.deepEqual(await db.selectOne(named, { ':a': 1, '@b': 2, $c: 3 }), { a: 1, b: 2, c: 3 })
  assert.deepEqual(await db.selectOne('SELECT :a + :a AS x', { a: 2 }), { x: 4 })
})

const wrongParams: [string, SqlValue[] | Record<string, SqlValue>, string][] = [
  ['SELECT ?, ?', [1], '2'],
  ['SELECT ?', [1, 2], '2'],
  ['SELECT 1', [1], '1'],
  ['SELECT ?', [], '1'],
  ['SELECT :a, :b', { a: 1 }, 'b'],
  ['SELECT :a', { a: 1, other: 2 }, 'other'],
  ['SELECT :a', {}, 'a'],
]

for (const [sql, params, named] of wrongParams) {
  // G21
  test(`${sql} with ${JSON.stringify(params)} is refused`, async (t) => {
    const db = await tempDatabase(t)
    await assert.rejects(db.select(sql, params), withCode('RESQLITE_PARAMETER', named))
    await assert.rejects(db.execute(sql, params), withCode('RESQLITE_PARAMETER', named))
  })
}

// G20, S1
test('a wrong parameter runs nothing', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  await assert.rejects(db.execute('INSERT INTO t VALUES (?)', [undefined as never]), TypeError)
  await assert.rejects(db.execute('INSERT INTO t VALUES (?)', [new Date() as never]), TypeError)
  await assert.rejects(db.execute('INSERT INTO t VALUES (?)', 'x' as never), TypeError)
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})
