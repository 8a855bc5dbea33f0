import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbortError, Database, type QueryResult, sql } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const TABLE = 'CREATE TABLE t(id INTEGER PRIMARY KEY, u UNIQUE)'
const INSERT = 'INSERT INTO t(u) VALUES (?)'
const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'

const count = async (db: Database) => (await db.select('SELECT u FROM t')).length

test('the results of a batch come in order, and reads see the writes before them', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const results = await db.batch([
    { sql: INSERT, params: ['a'] },
    'SELECT id, u FROM t',
    sql`INSERT INTO t(u) VALUES (${'b'}), (${'c'}) RETURNING id`,
    { sql: 'SELECT count(*) AS n FROM t WHERE id > :id', params: { id: 1 } },
    { toSQL: () => ({ sql: 'SELECT u FROM t WHERE id = ?', params: [9] }) },
  ])
  assert.deepEqual(
    results.map(({ rows }) => rows),
    [[], [{ id: 1, u: 'a' }], [{ id: 2 }, { id: 3 }], [{ n: 2 }], []],
  )
  assert.deepEqual(
    results.map(({ changes, lastInsertRowid }) => [changes, lastInsertRowid]),
    [
      [1, 1],
      [0, 0],
      [2, 3],
      [0, 0],
      [0, 0],
    ],
  )
  assert.deepEqual(
    results.map(({ columns }) => columns.map(({ name }) => name)),
    [[], ['id', 'u'], ['id'], ['n'], ['u']],
  )
  const { lastCommit } = await db.diagnostics()
  assert.ok(results.every(({ commit }) => commit === lastCommit))
})

test('rows may be arrays, and integers are those of the database', async (t) => {
  const db = await tempDatabase(t, TABLE, { integers: 'bigint' })
  const results = await db.batch([{ sql: INSERT, params: [5] }, 'SELECT id, u FROM t'], { arrays: true })
  assert.deepEqual(results[1].rows, [[1n, 5n]])
  assert.equal(results[0].lastInsertRowid, 1n)
})

test('an empty batch has no results', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.deepEqual(await db.batch([]), [])
  assert.deepEqual(await db.transaction((tx) => tx.batch([])), [])
})

// G214
test('a huge batch with large rows is complete', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const statements = Array.from({ length: 20_000 }, (_, i) =>
    i % 100 === 99
      ? 'SELECT * FROM t ORDER BY id DESC LIMIT 2'
      : { sql: INSERT, params: [`${i} ${'x'.repeat(100)}`] },
  )
  const results: QueryResult[] = await db.batch(statements)
  assert.equal(results.length, 20_000)
  assert.deepEqual(
    results[19_999]?.rows.map(({ u }) => String(u).split(' ')[0]),
    ['19998', '19997'],
  )
  assert.equal(await count(db), 19_800)
})

test('if one statement fails, nothing stays, and the error names it', async (t) => {
  const db = await tempDatabase(t, `${TABLE}; INSERT INTO t(u) VALUES ('taken')`)
  const batch = (bad: string, params: never[] = []) =>
    db.batch([
      { sql: INSERT, params: ['a'] },
      { sql: bad, params },
      { sql: INSERT, params: ['b'] },
    ])
  const failures: [bad: string, error: object][] = [
    ["INSERT INTO t(u) VALUES ('taken')", { name: 'SqliteError', code: 'SQLITE_CONSTRAINT_UNIQUE' }],
    ['SELECT nowhere FROM t', { name: 'SqliteError', code: 'SQLITE_ERROR', offset: 7 }],
    ['', { name: 'ResqliteError', code: 'RESQLITE_STATEMENT' }],
    ['SELECT 1; SELECT 2', { name: 'ResqliteError', code: 'RESQLITE_STATEMENT' }],
    ['SELECT ?', { name: 'RangeError', code: 'RESQLITE_PARAMETER' }],
    ['VACUUM', { name: 'SqliteError', code: 'SQLITE_ERROR' }],
    ["ATTACH ':memory:' AS x", { name: 'ResqliteError', code: 'RESQLITE_STATEMENT' }],
  ]
  for (const [bad, error] of failures) {
    await assert.rejects(batch(bad), { ...error, index: 1, sql: bad }, bad)
    assert.equal(await count(db), 1, bad)
  }
})

test('a wrong argument is refused by name before anything is sent', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const good = { sql: INSERT, params: ['a'] }
  await assert.rejects(db.batch('SELECT 1' as never), withCode('RESQLITE_STATEMENT', 'array'))
  await assert.rejects(db.batch([good, 7] as never), {
    code: 'RESQLITE_STATEMENT',
    index: 1,
    message: /^statement at index 1: sql/,
  })
  await assert.rejects(db.batch([good, { sql: INSERT, parms: [] }] as never), {
    code: 'RESQLITE_OPTION',
    index: 1,
  })
  const wrong = { sql: INSERT, params: [new Date()] }
  await assert.rejects(db.batch([good, wrong] as never), {
    code: 'RESQLITE_PARAMETER',
    index: 1,
    message: /^statement at index 1: parameter 1 is a Date/,
  })
  await assert.rejects(db.batch([good], { limits: {} } as never), withCode('RESQLITE_OPTION', 'limits'))
  assert.equal(await count(db), 0)
})

test('in a transaction a batch that fails is undone alone', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.execute(INSERT, ['a'])
    const failing = tx.batch([
      { sql: INSERT, params: ['b'] },
      { sql: INSERT, params: ['a'] },
    ])
    await assert.rejects(failing, { code: 'SQLITE_CONSTRAINT_UNIQUE', index: 1, sql: INSERT })
    const [, read] = await db.batch([{ sql: INSERT, params: ['c'] }, 'SELECT u FROM t ORDER BY id'])
    assert.deepEqual(read.rows, [{ u: 'a' }, { u: 'c' }])
  })
  assert.equal(await count(db), 2)
})

test('batches that are not awaited keep their order among other writes', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE log(n)')
  const insert = (n: number) => ({ sql: 'INSERT INTO log VALUES (?)', params: [n] })
  await Promise.all(
    Array.from(
      { length: 60 },
      (_, i): Promise<unknown> =>
        i % 3 === 0
          ? db.batch([insert(2 * i), insert(2 * i + 1)])
          : db.query('INSERT INTO log VALUES (?)', [2 * i]),
    ),
  )
  const rows = await db.select('SELECT n FROM log ORDER BY rowid', [], { arrays: true })
  const numbers = rows.flat() as number[]
  assert.equal(numbers.length, 80)
  assert.deepEqual(
    numbers,
    [...numbers].sort((a, b) => a - b),
  )
})

test('a signal undoes the batch', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const controller = new AbortController()
  const { signal } = controller
  const running = db.batch([{ sql: INSERT, params: ['a'] }, `${ENDLESS} SELECT count(*) FROM n`], { signal })
  setImmediate(() => controller.abort('enough'))
  await assert.rejects(running, (error) => error instanceof AbortError && error.cause === 'enough')
  await assert.rejects(db.batch([], { signal }), AbortError)
  assert.equal(await count(db), 0)
})

test('what was asked before close is still done', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const asked = db.batch([{ sql: INSERT, params: ['a'] }, 'SELECT u FROM t'])
  await db.close()
  assert.deepEqual((await asked)[1].rows, [{ u: 'a' }])
  await assert.rejects(db.batch([]), withCode('RESQLITE_CLOSED'))
})

test('a database that is open for reading only refuses batches', async (t) => {
  const path = (await tempDatabase(t, TABLE)).path
  const db = await Database.open(path, { readOnly: true })
  t.after(() => db.close())
  await assert.rejects(db.batch(['SELECT 1']), withCode('RESQLITE_READ_ONLY', 'batch'))
})

// G215
test('executeBatch names the parameter set that failed', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(db.executeBatch(INSERT, [[1], [2], [1]]), {
    code: 'SQLITE_CONSTRAINT_UNIQUE',
    index: 2,
    sql: INSERT,
  })
  await assert.rejects(db.executeBatch(INSERT, [[1], []]), { code: 'RESQLITE_PARAMETER', index: 1 })
  await assert.rejects(db.executeBatch(INSERT, [[1], [undefined as never]]), {
    code: 'RESQLITE_PARAMETER',
    index: 1,
  })
  const large = Array.from({ length: 50_000 }, (_, i) => [i === 49_000 ? 7 : i])
  await assert.rejects(db.executeBatch(INSERT, large), { code: 'SQLITE_CONSTRAINT_UNIQUE', index: 49_000 })
})

// G215
test('exec names the statement that failed, and where it is', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const script = "INSERT INTO t VALUES (1, 'é');\n INSERT INTO t VALUES (2, 'é'); SELECT 1"
  const error = {
    code: 'SQLITE_CONSTRAINT_UNIQUE',
    index: 1,
    sql: script,
    offset: script.indexOf('INSERT INTO t VALUES (2'),
  }
  await assert.rejects(db.exec(script), error)
  await assert.rejects(db.exec('SELECT 1; PRAGMA no_such'), { code: 'RESQLITE_STATEMENT', index: 1 })
})
