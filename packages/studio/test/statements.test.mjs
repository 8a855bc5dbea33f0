import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { Database } from 'resqlite'
import { withinTime } from '../dist/server/statements.js'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA =
  "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT NOT NULL); INSERT INTO t VALUES (1, 'one'), (2, 'two')"

test('a statement gives its columns and its rows', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const { body } = await client.ask('query', {
    sql: "SELECT id, a, x'0a' AS b, NULL AS n, 0.5 AS r FROM t ORDER BY id",
  })
  assert.deepEqual(
    body.columns.map(({ name }) => name),
    ['id', 'a', 'b', 'n', 'r'],
  )
  assert.deepEqual(body.rows, [
    ['i1', 'tone', 'b0A', null, 'r0.5'],
    ['i2', 'ttwo', 'b0A', null, 'r0.5'],
  ])
  assert.equal(body.more, false)
})

// G367
test('without write, nothing writes', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  const before = (await db.diagnostics()).lastCommit
  const target = `${db.path}.copy`
  const statements = [
    'DELETE FROM t',
    "INSERT INTO t VALUES (3, 'x') RETURNING id",
    'WITH c AS (SELECT 1) UPDATE t SET a = 1',
    'DROP TABLE t',
    'CREATE TABLE u(x)',
    `VACUUM INTO '${target}'`,
    `ATTACH '${target}' AS other`,
    'PRAGMA user_version = 7',
    'PRAGMA writable_schema = 1',
    'PRAGMA query_only = 0',
    'PRAGMA journal_mode = DELETE',
    'BEGIN IMMEDIATE',
    "SELECT load_extension('x')",
    "SELECT writefile('x', 'y')",
    'SELECT 1; DELETE FROM t',
  ]
  for (const sql of statements) {
    const { status } = await client.ask('query', { sql })
    assert.ok(status === 403 || status === 422, `${sql}: ${status}`)
    await client.ask('explain', { sql })
    await client.ask('describe', { sql })
  }
  const edit = { schema: 'main', table: 't', kind: 'delete', key: ['i1'] }
  assert.equal((await client.ask('edits', { edits: [edit] })).status, 403)
  assert.deepEqual(await db.select('SELECT id FROM t'), [{ id: 1 }, { id: 2 }])
  assert.equal((await db.diagnostics()).lastCommit, before)
  assert.equal(existsSync(target), false)
})

test('with write, a statement may write', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db, { write: true })
  const { body } = await client.ask('query', { sql: "UPDATE t SET a = 'new' WHERE id = 2 RETURNING a" })
  assert.deepEqual([body.changes, body.rows], [1, [['tnew']]])
})

test('of a database that is read-only, write makes no difference', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const reader = await Database.open(db.path, { readOnly: true })
  t.after(() => reader.close())
  const client = await serve(t, reader, { write: true })
  assert.equal((await client.ask('query', { sql: 'DELETE FROM t' })).status, 403)
})

test('an error says where it is', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const sql = "SELECT 'ü', missing FROM t"
  for (const route of ['query', 'describe', 'explain']) {
    const { status, body } = await client.ask(route, { sql })
    assert.deepEqual([status, body.code, body.offset], [422, 'SQLITE_ERROR', sql.indexOf('missing')], route)
    assert.match(body.message, /no such column: missing/)
  }
})

test('a result is cut off by its rows', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const sql = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'
  const { body } = await client.ask('query', { sql })
  assert.deepEqual([body.rows.length, body.more], [5000, true])
})

test('a result is bounded in bytes, and its values are whole', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const many = await client.ask('query', { sql: 'SELECT zeroblob(2000000) FROM t, t AS u, t AS v, t AS w' })
  assert.deepEqual([many.status, many.body.code], [422, 'RESQLITE_LIMIT'])
  const one = await client.ask('query', { sql: "SELECT printf('%.*c', 1000, 'x') AS x" })
  assert.equal(one.body.rows[0][0], `t${'x'.repeat(1000)}`)
})

test('a statement ends when its page has left', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  const sql = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
  const left = new AbortController()
  const asked = fetch(`http://127.0.0.1:${client.port}/api/query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ sql }),
    signal: left.signal,
  })
  while ((await db.diagnostics()).leases.open === 0) {}
  left.abort()
  await assert.rejects(asked)
  while ((await db.diagnostics()).leases.open > 0) {}
})

// G378
test('a page is told when a function of a statement does not end in time', async () => {
  const never = new Promise(() => {})
  await assert.rejects(withinTime(never, 1), { status: 504, message: /a function in it does not end/ })
  assert.equal(await withinTime(Promise.resolve(7), 1000), 7)
})

test('a plan is told as steps with their parents, with what it means for a live query', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const { body } = await client.ask('explain', { sql: 'SELECT * FROM t WHERE id = 1' })
  assert.deepEqual(
    body.plan.map(({ detail }) => detail),
    ['SEARCH t USING INTEGER PRIMARY KEY (rowid=?)'],
  )
  assert.equal(body.live.precision, 'key')
})

// G372
test('edits are one batch: all or none, and the one that failed is named', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db, { write: true })
  const edit = (kind, more) => ({ schema: 'main', table: 't', kind, ...more })
  const good = [
    edit('update', { key: ['i1'], set: { a: 'tONE' }, old: { a: 'tone' } }),
    edit('delete', { key: ['i2'], old: { id: 'i2', a: 'ttwo' } }),
    edit('insert', { set: { id: 'i9007199254740993', a: 't<b>' } }),
  ]
  const before = (await db.diagnostics()).lastCommit
  const { status, body } = await client.ask('edits', { edits: good })
  assert.deepEqual([status, body.changes, body.commit], [200, 3, before + 1])
  const rows = await db.select('SELECT * FROM t')
  assert.deepEqual(rows, [
    { id: 1, a: 'ONE' },
    { id: 9007199254740993n, a: '<b>' },
  ])
  const update = (key, a, old) => edit('update', { key: [key], set: { a }, old: { a: old } })
  const bad = [
    [update('i1', 'tx', 'tONE'), update('i2', 'tx', 'ttwo')],
    [update('i1', 'tx', 'tONE'), update('i1', null, 'tx')],
  ]
  for (const [index, edits] of bad.entries()) {
    const refused = await client.ask('edits', { edits })
    assert.deepEqual([refused.status, refused.body.index], [[409, 422][index], 1])
    assert.match(refused.body.message, [/the row is not there any more/, /NOT NULL/][index])
  }
  assert.deepEqual(await db.select('SELECT * FROM t'), rows)
})

// G372
test('a REAL that is whole stays a REAL', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 0)')
  const client = await serve(t, db, { write: true })
  const edits = [
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set: { a: 'r2.0' }, old: { a: 'i0' } },
    { schema: 'main', table: 't', kind: 'insert', set: { id: 'i2', a: 'r-3' } },
  ]
  assert.equal((await client.ask('edits', { edits })).status, 200)
  assert.deepEqual(await db.select('SELECT typeof(a) FROM t', [], { arrays: true }), [['real'], ['real']])
  const { body } = await client.ask('query', { sql: 'SELECT 1e300, 9007199254740993' })
  assert.deepEqual(body.rows, [['r1e+300', 'i9007199254740993']])
})

test('an edit that makes no sense is refused', async (t) => {
  const db = await tempDatabase(t, `${SCHEMA}; CREATE VIEW v AS SELECT * FROM t`)
  const client = await serve(t, db, { write: true })
  const set = { a: 'tx' }
  const old = { a: 'tone' }
  const wrong = [
    { schema: 'main', table: 'sqlite_schema', kind: 'delete', key: ['i1'], old },
    { schema: 'main', table: 'v', kind: 'update', key: ['i1'], set, old },
    { schema: 'main', table: 't', kind: 'drop', key: ['i1'], set, old },
    { schema: 'main', table: 't', kind: 'update', key: [], set, old },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set: { 'a" = 1 --': 'tx' }, old },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set: { a: 'T9:cut' }, old },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set: { a: 'i1; DROP' }, old },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set: { a: 'i9223372036854775808' }, old },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set: { a: 7 }, old },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set: {}, old },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set, old: {} },
    { schema: 'main', table: 't', kind: 'update', key: ['i1'], set, old: { a: 'tone', b: 'i1' } },
    { schema: 'main', table: 't', kind: 'delete', key: ['i1'] },
  ]
  for (const edit of wrong) {
    const { status } = await client.ask('edits', { edits: [edit] })
    assert.ok(status === 400 || status === 404, `${JSON.stringify(edit)}: ${status}`)
  }
  for (const edits of [[], {}, undefined, [null], ['an edit'], Array(2001).fill(wrong[0])]) {
    assert.equal((await client.ask('edits', { edits })).status, 400)
  }
})
