import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SqliteError } from 'resqlite'
import { all, three, withCode } from './support/nodes'

const SCHEMA = 'CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b)'

// G343
test('a write of a follower is done by the writer, and is there when it is acknowledged', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const done = await follower.execute('INSERT INTO t(a) VALUES (?) RETURNING id, a', ['x'])
  assert.deepEqual(
    { ...done, commit: 0 },
    { changes: 1, lastInsertRowid: 1, rows: [{ id: 1, a: 'x' }], commit: 0 },
  )
  assert.equal(done.commit, follower.status.applied)
  assert.deepEqual(await follower.select('SELECT a FROM t'), [{ a: 'x' }])
  assert.deepEqual([writer.status.role, follower.status.role], ['writer', 'follower'])
})

// G343
test('each kind of write gives the same on a follower as on the writer', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const results = []
  for (const db of [writer, follower]) {
    await db.exec('DELETE FROM t; INSERT INTO t VALUES (1, 10, NULL)')
    const arrays = await db.execute('UPDATE t SET b = 2 RETURNING id, b', [], { arrays: true })
    const batch = await db.batch([
      { sql: 'INSERT INTO t(a, b) VALUES (:a, :b)', params: { a: 'né', b: new Uint8Array([1, 2]) } },
      'SELECT id, a, b FROM t ORDER BY id',
      { sql: 'DELETE FROM t WHERE a = ?', params: ['né'] },
    ])
    const many = await db.executeBatch('INSERT INTO t(a) VALUES (?)', [['p'], ['q']])
    const query = await db.query('INSERT INTO t(a) VALUES (?) RETURNING a AS x', ['r'])
    results.push(JSON.stringify([arrays, batch, many, query], (key, value) => (key === 'commit' ? 0 : value)))
  }
  assert.equal(results[1], results[0])
})

// G343
test('each kind of write fails on a follower as on the writer, and does nothing', async (t) => {
  const { writer, follower } = await three(t, `${SCHEMA}; INSERT INTO t(a) VALUES ('x')`)
  const failures: ((db: typeof writer) => Promise<unknown>)[] = [
    (db) => db.execute("INSERT INTO t(a) VALUES ('x')"),
    (db) => db.execute('INSERT INTO nowhere VALUES (1)'),
    (db) => db.execute('INSERT INTO t(a) VALUES (?)', [1, 2]),
    (db) => db.execute('INSERT INTO t(a) VALUES (1); SELECT 1'),
    (db) => db.exec("INSERT INTO t(a) VALUES ('y'); INSERT INTO t(a) VALUES ('y')"),
    (db) =>
      db.batch(["INSERT INTO t(a) VALUES ('y')", { sql: 'INSERT INTO t(a) VALUES (?)', params: ['x'] }]),
    (db) => db.executeBatch('INSERT INTO t(a) VALUES (?)', [['y'], ['z'], ['x']]),
    (db) => db.query("INSERT INTO t(a) VALUES ('x')"),
  ]
  for (const fails of failures) {
    const [here, there] = await Promise.all(
      [writer, follower].map((db) => fails(db).then(() => assert.fail('it did not fail'), description)),
    )
    assert.deepEqual(there, here)
  }
  await all([follower])
  assert.deepEqual(await follower.select('SELECT a FROM t'), [{ a: 'x' }])
})

/** What a program can tell of an error. */
function description(
  error: Error & { code?: string; sql?: string; index?: number; offset?: number; errno?: number },
) {
  const { name, message, code, sql, index, offset, errno } = error
  return { type: error.constructor.name, name, message, code, sql, index, offset, errno }
}

// G343
test('a constraint that fails elsewhere is an SqliteError with its code', async (t) => {
  const { follower } = await three(t, `${SCHEMA}; INSERT INTO t(a) VALUES ('x')`)
  const failed = follower.execute("INSERT INTO t(a) VALUES ('x')")
  await assert.rejects(
    failed,
    (error) => error instanceof SqliteError && error.code === 'SQLITE_CONSTRAINT_UNIQUE',
  )
})

// G343
test('integers come back as the database was opened', async (t) => {
  const big = 2n ** 60n
  for (const [integers, small] of [
    ['auto', 1],
    ['bigint', 1n],
  ] as const) {
    const { follower } = await three(t, SCHEMA, { integers })
    const { rows, lastInsertRowid } = await follower.execute(
      'INSERT INTO t(a) VALUES (?) RETURNING a, 1 AS one',
      [big],
    )
    assert.deepEqual([rows, lastInsertRowid], [[{ a: big, one: small }], small])
  }
  const { follower } = await three(t, SCHEMA, { integers: 'number' })
  await assert.rejects(
    follower.execute('INSERT INTO t(a) VALUES (?) RETURNING a', [big]),
    withCode('RESQLITE_INTEGER'),
  )
})

// G344
test('a batch whose sets arrive in parts is one write', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const long = 'é'.repeat(150)
  for (const [round, db] of [writer, follower].entries()) {
    const sets = Array.from({ length: 2_000 }, (_, i) => [`${round} ${long} ${i}`, i])
    const { changes } = await db.executeBatch('INSERT INTO t(a, b) VALUES (?, ?)', sets)
    assert.equal(changes, 2_000)
  }
  await all([writer])
  const [row] = await writer.select('SELECT count(*) AS n, sum(b) AS sum, max(a) AS last FROM t')
  assert.deepEqual(row, { n: 4_000, sum: 2 * (1_999 * 1_000), last: `1 ${long} 999` })
})

// G344
test('a batch whose sets end with an error leaves nothing', async (t) => {
  const { follower } = await three(t, SCHEMA)
  async function* sets() {
    for (let i = 0; i < 1_000; i++) yield ['a part has 64 KiB'.repeat(10)]
    throw new Error('no more')
  }
  await assert.rejects(follower.executeBatch('INSERT INTO t(a) VALUES (?)', sets()), /no more/)
  assert.deepEqual(await follower.select('SELECT count(*) AS n FROM t', [], { fresh: true }), [{ n: 0 }])
})

// G345
test('a statement that only reads, or manages this file, stays here', async (t) => {
  const { writer, follower, world } = await three(t, SCHEMA)
  const before = writer.status.log
  await follower.query('SELECT * FROM t')
  await follower.execute('SELECT * FROM t')
  await follower.execute('PRAGMA optimize(0)').catch(() => {})
  await follower.execute('VACUUM INTO ?', [`${world.path('copy')}`])
  assert.equal(writer.status.log, before)
})

// G345
test('what no entry can carry is refused', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  for (const db of [writer, follower])
    for (const sql of ['VACUUM', "ATTACH 'x.db' AS x"])
      await assert.rejects(db.execute(sql), withCode('RESQLITE_ENTRY_NOT_CARRIED'))
})

// G343
test('writes on all nodes at once are done once each', async (t) => {
  const { writer, follower, other } = await three(t, SCHEMA)
  const nodes = [writer, follower, other]
  const inserts = Array.from({ length: 300 }, (_, i) =>
    nodes[i % 3]?.execute('INSERT INTO t(a) VALUES (?)', [i]),
  )
  await Promise.all(inserts)
  await all(nodes)
  const contents = await Promise.all(nodes.map((db) => db.select('SELECT id, a FROM t ORDER BY id')))
  assert.equal(new Set(contents[0]?.map(({ a }) => a)).size, 300)
  assert.deepEqual(contents[1], contents[0])
  assert.deepEqual(contents[2], contents[0])
})
