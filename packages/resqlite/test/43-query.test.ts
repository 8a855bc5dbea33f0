import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbortError, Database, LimitError, sql } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const TABLE =
  "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, born DATE); INSERT INTO t VALUES (1, 'a', NULL), (2, 'b', '2020')"
const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'
/** A byte order mark hides the first keyword from a guess, not from SQLite. */
const HIDDEN = '\ufeff'

test('a statement that reads gives its rows and their columns', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const { commit } = await db.execute("UPDATE t SET name = 'A' WHERE id = 1")
  const expected = {
    rows: [{ id: 1, born: null, upper: 'A' }],
    columns: [
      { name: 'id', type: 'INTEGER', table: 't', column: 'id', database: 'main' },
      { name: 'born', type: 'DATE', table: 't', column: 'born', database: 'main' },
      { name: 'upper', type: null, table: null, column: null, database: null },
    ],
    changes: 0,
    lastInsertRowid: 0,
    commit,
  }
  const text = 'SELECT id, born, upper(name) AS upper FROM t WHERE id = ?'
  assert.deepEqual(await db.query(text, [1]), expected)
  assert.deepEqual(
    await db.query(sql`SELECT id, born, upper(name) AS upper FROM t WHERE id = ${1}`),
    expected,
  )
  assert.deepEqual((await db.query(text, [9])).rows, [])
  assert.deepEqual((await db.query(text, [9])).columns, expected.columns)
})

test('a statement that writes is committed, and gives what it returns', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const done = await db.query('INSERT INTO t(name) VALUES (:name) RETURNING id AS key', { name: 'c' })
  assert.deepEqual(done, {
    rows: [{ key: 3 }],
    columns: [{ name: 'key', type: 'INTEGER', table: 't', column: 'id', database: 'main' }],
    changes: 1,
    lastInsertRowid: 3,
    commit: (await db.diagnostics()).lastCommit,
  })
  const silent = await db.query('DELETE FROM t WHERE id = 3')
  assert.deepEqual([silent.rows, silent.columns, silent.changes], [[], [], 1])
})

const kinds: Record<string, [statement: string, rows: number]> = {
  'a SELECT': ['SELECT * FROM t', 2],
  'comments in front': ['-- one\n/* two */ SELECT * FROM t', 2],
  VALUES: ['VALUES (1), (2), (3)', 3],
  'WITH … SELECT': ['WITH x AS (SELECT * FROM t) SELECT * FROM x', 2],
  'a PRAGMA that reads': ['PRAGMA table_info(t)', 3],
  'WITH … INSERT': ['WITH x AS (SELECT 5) INSERT INTO t(id) SELECT * FROM x RETURNING id', 1],
  'UPDATE … RETURNING': ['UPDATE t SET name = 1 RETURNING id', 2],
  REPLACE: ["REPLACE INTO t VALUES (1, 'r', 0)", 0],
  DDL: ['CREATE TABLE u(a)', 0],
  'a PRAGMA that writes': ['PRAGMA user_version = 3', 0],
  VACUUM: ['VACUUM', 0],
  'a write that does not look like one': [`${HIDDEN}DELETE FROM t RETURNING id`, 2],
  'a read that does not look like one': ['WITH replace AS (SELECT 1) SELECT * FROM replace', 1],
}

for (const [kind, [statement, rows]] of Object.entries(kinds)) {
  // G206
  test(`${kind} goes where it can run`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    assert.equal((await db.query(statement)).rows.length, rows)
  })
}

test('EXPLAIN of a write runs nothing', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.ok((await db.query('EXPLAIN DELETE FROM t')).rows.length > 0)
  assert.deepEqual(await db.select('SELECT count(*) AS n FROM t'), [{ n: 2 }])
})

test('rows may be arrays, and integers are those of the database', async (t) => {
  const db = await tempDatabase(t, TABLE, { integers: 'bigint' })
  const { rows } = await db.query('SELECT id FROM t', [], { arrays: true })
  assert.deepEqual(rows, [[1n], [2n]])
  const done = await db.query('INSERT INTO t(id) VALUES (7) RETURNING id', [], { arrays: true })
  assert.deepEqual([done.rows, done.lastInsertRowid], [[[7n]], 7n])
})

test('columns are shared, so they cannot be changed', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const first = await db.query('SELECT id FROM t')
  assert.equal((await db.query('SELECT id FROM t')).columns, first.columns)
  assert.throws(() => (first.columns as unknown[]).push(1), TypeError)
  assert.throws(() => Object.assign(first.columns[0] as object, { name: 'x' }), TypeError)
})

// G208
test('columns follow a change of the schema', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const names = async () => (await db.query('SELECT * FROM t')).columns.map(({ name }) => name)
  assert.deepEqual(await names(), ['id', 'name', 'born'])
  await db.query('ALTER TABLE t ADD COLUMN more')
  assert.deepEqual(await names(), ['id', 'name', 'born', 'more'])
})

test('results of many batches of rows are complete', async (t) => {
  const db = await tempDatabase(t)
  const { rows } = await db.query(`${ENDLESS} SELECT i FROM n LIMIT 5000`, [], { arrays: true })
  assert.equal(rows.length, 5000)
  assert.deepEqual(rows[4999], [5000])
})

// G208
test('more column lists than are kept are still told apart', async (t) => {
  const db = await tempDatabase(t)
  const results = await db.batch(Array.from({ length: 5000 }, (_, i) => `SELECT ${i} AS c${i}`))
  assert.deepEqual(
    results.map(({ columns }) => columns[0]?.name),
    Array.from({ length: 5000 }, (_, i) => `c${i}`),
  )
  assert.equal((await db.query('SELECT 1 AS c1')).columns[0]?.name, 'c1')
})

test('a wrong call is refused by name', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(db.query(7 as never), withCode('RESQLITE_STATEMENT', 'sql must be'))
  await assert.rejects(
    db.query('SELECT 1', [], { array: true } as never),
    withCode('RESQLITE_OPTION', 'array'),
  )
  await assert.rejects(
    db.query('SELECT ?', [undefined as never]),
    withCode('RESQLITE_PARAMETER', 'parameter 1'),
  )
  await assert.rejects(db.query('SELECT ?', []), withCode('RESQLITE_PARAMETER'))
  await assert.rejects(db.query('SELECT 1; SELECT 2'), withCode('RESQLITE_STATEMENT'))
  await assert.rejects(db.query(''), withCode('RESQLITE_STATEMENT'))
  await assert.rejects(db.query('PRAGMA foreign_keys = OFF'), withCode('RESQLITE_STATEMENT'))
  const text = "INSERT INTO t VALUES (1, 'x', 0)"
  const taken = { name: 'SqliteError', code: 'SQLITE_CONSTRAINT_PRIMARYKEY', sql: text }
  await assert.rejects(db.query(text), taken)
})

// G212
test('what is no read has one code', async (t) => {
  const db = await tempDatabase(t, TABLE)
  for (const text of [
    'DELETE FROM t',
    'PRAGMA user_version = 1',
    "ATTACH ':memory:' AS x",
    'BEGIN',
    'VACUUM',
  ]) {
    await assert.rejects(db.select(text), withCode('RESQLITE_READ_ONLY'), text)
    await assert.rejects(
      db.snapshot((snap) => snap.query(text)),
      withCode('RESQLITE_READ_ONLY'),
      text,
    )
  }
})

test('a database that is open for reading only refuses what writes', async (t) => {
  const path = (await tempDatabase(t, TABLE)).path
  const db = await Database.open(path, { readOnly: true })
  t.after(() => db.close())
  assert.equal((await db.query('SELECT * FROM t')).rows.length, 2)
  for (const text of ['DELETE FROM t', `${HIDDEN}DELETE FROM t`])
    await assert.rejects(db.query(text), withCode('RESQLITE_READ_ONLY', 'reading only'))
})

test('in the body of a transaction it runs in the transaction', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.query("INSERT INTO t VALUES (3, 'c', 0)")
    assert.deepEqual((await tx.query('SELECT count(*) AS n FROM t')).rows, [{ n: 3 }])
    assert.deepEqual((await db.query('SELECT count(*) AS n FROM t')).rows, [{ n: 3 }])
    await assert.rejects(
      tx.query("INSERT INTO t VALUES (3, 'c', 0)"),
      withCode('SQLITE_CONSTRAINT_PRIMARYKEY'),
    )
    await tx.transaction((inner) => inner.query('DELETE FROM t WHERE id = 1'))
  })
  assert.deepEqual((await db.query('SELECT id FROM t')).rows, [{ id: 2 }, { id: 3 }])
})

test('in a snapshot it sees the state of the snapshot', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const { lastCommit } = await db.diagnostics()
  await db.snapshot(async (snap) => {
    await db.execute('DELETE FROM t')
    const { rows, commit } = await snap.query('SELECT id FROM t')
    assert.deepEqual([rows.length, commit], [2, lastCommit])
  })
})

// G207
test('writes that are not awaited keep their order', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE log(n)')
  const texts = ['INSERT INTO log VALUES (?)', 'WITH x(n) AS (VALUES (?)) INSERT INTO log SELECT n FROM x']
  await Promise.all(Array.from({ length: 100 }, (_, i) => db.query(texts[i % 2] as string, [i])))
  const rows = await db.select('SELECT n FROM log ORDER BY rowid', [], { arrays: true })
  assert.deepEqual(
    rows.flat(),
    Array.from({ length: 100 }, (_, i) => i),
  )
})

for (const text of [`${ENDLESS} SELECT count(*) FROM n`, `${ENDLESS} INSERT INTO t(name) SELECT i FROM n`]) {
  test(`a signal interrupts ${text.slice(ENDLESS.length + 1, -7)}`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    const controller = new AbortController()
    const running = db.query(text, [], { signal: controller.signal })
    setImmediate(() => controller.abort('enough'))
    await assert.rejects(running, (error) => error instanceof AbortError && error.cause === 'enough')
    await assert.rejects(db.query(text, [], { signal: controller.signal }), AbortError)
    assert.deepEqual(await db.select('SELECT count(*) AS n FROM t'), [{ n: 2 }])
  })

  test(`limits hold for ${text.slice(ENDLESS.length + 1, -7)}`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    const running = db.query(text, [], { limits: { steps: 50_000 } })
    await assert.rejects(running, (error) => error instanceof LimitError && error.limit === 'steps')
    assert.deepEqual(await db.select('SELECT count(*) AS n FROM t'), [{ n: 2 }])
  })
}

// G211
test('what was asked before close is still done', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const asked = [db.query('DELETE FROM t'), db.query(`${HIDDEN}INSERT INTO t(id) VALUES (9)`)]
  await db.close()
  await Promise.all(asked)
  await assert.rejects(db.query('SELECT 1'), withCode('RESQLITE_CLOSED'))
  const again = await Database.open(db.path)
  t.after(() => again.close())
  assert.ok((await again.select('SELECT id FROM t')).every(({ id }) => id === 9))
})

// G213
test('describe says what a statement is, and runs nothing', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.deepEqual(await db.describe('SELECT name FROM t WHERE id = :id AND born > ?'), {
    readOnly: true,
    columns: [{ name: 'name', type: 'TEXT', table: 't', column: 'name', database: 'main' }],
    parameters: [':id', null],
  })
  const insert = await db.describe(sql`INSERT INTO t(name) VALUES (${'x'}) RETURNING id`)
  assert.deepEqual([insert.readOnly, insert.columns.length, insert.parameters], [false, 1, [null]])
  assert.equal((await db.describe('PRAGMA user_version = 3')).readOnly, false)
  assert.deepEqual(await db.select('SELECT count(*) AS n FROM t'), [{ n: 2 }])
  assert.deepEqual(await db.select('PRAGMA user_version'), [{ user_version: 0 }])
})

test('describe sees the schema of the transaction or snapshot', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.exec('CREATE TABLE u(a REAL)')
    assert.equal((await tx.describe('SELECT a FROM u')).columns[0]?.type, 'REAL')
    assert.equal((await db.describe('SELECT a FROM u')).columns[0]?.type, 'REAL')
  })
  await db.snapshot(async (snap) => {
    await db.exec('DROP TABLE u')
    assert.equal((await snap.describe('SELECT a FROM u')).columns.length, 1)
  })
  await assert.rejects(db.describe('SELECT a FROM u'), withCode('SQLITE_ERROR', 'no such table'))
})

test('describe refuses a wrong call by name', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(db.describe(undefined as never), withCode('RESQLITE_STATEMENT', 'sql must be'))
  await assert.rejects(db.describe('SELECT 1; SELECT 2'), withCode('RESQLITE_STATEMENT'))
  await assert.rejects(
    db.describe('SELECT 1', { limits: {} } as never),
    withCode('RESQLITE_OPTION', 'limits'),
  )
  await assert.rejects(db.describe('SELECT 1', { signal: AbortSignal.abort() }), AbortError)
  await assert.rejects(db.describe('PRAGMA cache_size = 3'), withCode('RESQLITE_READ_ONLY'))
})
