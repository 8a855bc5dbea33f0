import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database, type LeanPatch } from 'resqlite'
import { tempDatabase } from './support/temp'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8')

test('selectBytes gives a JSON array of row objects', async (t) => {
  const db = await tempDatabase(t)
  const bytes = await db.selectBytes(
    "SELECT 1 AS a, 'x' AS b, NULL AS c, 1.5 AS d UNION ALL SELECT ?, ?, ?, ?",
    [2, 'y', null, -0.25],
  )
  assert.ok(bytes instanceof Uint8Array)
  assert.equal(text(bytes), '[{"a":1,"b":"x","c":null,"d":1.5},{"a":2,"b":"y","c":null,"d":-0.25}]')
})

// G244
test('the bytes are a body of a Response, and a database again', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a); INSERT INTO t VALUES (7)')
  assert.deepEqual(await new Response(await db.selectBytes('SELECT a FROM t')).json(), [{ a: 7 }])
  const copy = await Database.open(new Uint8Array(await new Response(await db.serialize()).arrayBuffer()))
  assert.deepEqual(await copy.select('SELECT a FROM t'), [{ a: 7 }])
  await copy.close()
  const changes = db.stream('SELECT a FROM t').patchesBytes({ key: 'a' })
  const { value } = await changes.next()
  const patch = await new Response(value.bytes).json()
  assert.deepEqual((patch as LeanPatch).added, [{ index: 0, row: { a: 7 } }])
  await changes.return()
})

// G25
test('selectBytes gives [] when there are no rows', async (t) => {
  const db = await tempDatabase(t)
  assert.equal(text(await db.selectBytes('SELECT 1 WHERE 0')), '[]')
})

// G25
test('64-bit integers have all their digits', async (t) => {
  const db = await tempDatabase(t)
  const bytes = await db.selectBytes('SELECT 9223372036854775807 AS a, -9223372036854775808 AS b')
  assert.equal(text(bytes), '[{"a":9223372036854775807,"b":-9223372036854775808}]')
})

// G25
test('infinities are numbers that overflow to infinity again', async (t) => {
  const db = await tempDatabase(t)
  const bytes = await db.selectBytes('SELECT 9e999 AS a, -9e999 AS b')
  assert.equal(text(bytes), '[{"a":9e999,"b":-9e999}]')
  assert.deepEqual(JSON.parse(text(bytes)), [{ a: Number.POSITIVE_INFINITY, b: Number.NEGATIVE_INFINITY }])
})

// G25
test('reals round-trip', async (t) => {
  const db = await tempDatabase(t)
  const reals = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 1e21, 123456789.125]
  const sql = reals.map((_, i) => `SELECT ?${i + 1} AS x`).join(' UNION ALL ')
  const parsed = JSON.parse(text(await db.selectBytes(sql, reals))) as { x: number }[]
  assert.deepEqual(
    parsed.map((row) => row.x),
    reals,
  )
})

// G25
test('text is escaped', async (t) => {
  const db = await tempDatabase(t)
  const value = 'quote " backslash \\ newline \n tab \t nul \0 bell \u0007 é 日本 😀 \u2028 </script>'
  const bytes = await db.selectBytes('SELECT ? AS "na""me"', [value])
  assert.deepEqual(JSON.parse(text(bytes)), [{ 'na"me': value }])
})

// G25
test('blobs are base64', async (t) => {
  const db = await tempDatabase(t)
  for (let length = 0; length < 5; length++) {
    const blob = Buffer.from([250, 251, 252, 253, 254]).subarray(0, length)
    const bytes = await db.selectBytes('SELECT ? AS b', [blob])
    assert.equal(text(bytes), `[{"b":"${blob.toString('base64')}"}]`)
  }
})

test('a large result is complete', async (t) => {
  const db = await tempDatabase(t)
  const count =
    'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50000) SELECT x FROM c'
  const rows = JSON.parse(text(await db.selectBytes(count))) as { x: number }[]
  assert.equal(rows.length, 50_000)
  assert.equal(rows[49_999]?.x, 50_000)
})

test('the bytes belong to the caller', async (t) => {
  const db = await tempDatabase(t)
  const first = await db.selectBytes('SELECT 1 AS x')
  const before = text(first)
  for (let i = 0; i < 100; i++) await db.selectBytes('SELECT ? AS y', [i])
  assert.equal(text(first), before)
})

test('inside a transaction it sees what was written', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  await db.transaction(async (tx) => {
    await tx.execute('INSERT INTO t VALUES (1)')
    assert.equal(text(await tx.selectBytes('SELECT x FROM t')), '[{"x":1}]')
    assert.equal(text(await db.selectBytes('SELECT x FROM t')), '[{"x":1}]')
  })
})
