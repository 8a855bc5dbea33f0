import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SqliteError } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const USERS = 'CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT UNIQUE)'

// G39
test('execute returns the number of changes, the rowid and the commit', async (t) => {
  const db = await tempDatabase(t, USERS)
  const first = await db.execute('INSERT INTO users(name) VALUES (?)', ['Ada'])
  assert.deepEqual({ ...first, commit: 0 }, { changes: 1, lastInsertRowid: 1, rows: [], commit: 0 })
  const second = await db.execute("INSERT INTO users(name) VALUES ('Bob'), ('Cyd')")
  assert.equal(second.changes, 2)
  assert.equal(second.lastInsertRowid, 3)
  assert.ok(first.commit > 0)
  assert.ok(second.commit > first.commit)
  assert.equal((await db.execute('DELETE FROM users')).changes, 3)
})

test('changes is 0 for a statement that changes no rows', async (t) => {
  const db = await tempDatabase(t, USERS)
  await db.execute("INSERT INTO users(name) VALUES ('Ada')")
  assert.equal((await db.execute("UPDATE users SET name = 'x' WHERE id = 99")).changes, 0)
  assert.equal((await db.execute('CREATE TABLE other(x)')).changes, 0)
})

// G39
test('RETURNING gives rows, as objects or arrays', async (t) => {
  const db = await tempDatabase(t, USERS)
  const sql = 'INSERT INTO users(name) VALUES (?), (?) RETURNING id, name'
  const { rows, changes } = await db.execute(sql, ['a', 'b'])
  assert.deepEqual(rows, [
    { id: 1, name: 'a' },
    { id: 2, name: 'b' },
  ])
  assert.equal(changes, 2)
  assert.deepEqual((await db.execute(sql, ['c', 'd'], { arrays: true })).rows, [
    [3, 'c'],
    [4, 'd'],
  ])
})

// G39
test('RETURNING may give very many rows', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const count =
    'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) SELECT x FROM c'
  const { rows } = await db.execute<{ x: number }>(`INSERT INTO t ${count} RETURNING x`)
  assert.equal(rows.length, 20_000)
  assert.equal(rows[19_999]?.x, 20_000)
})

// G39
test('a rowid beyond the safe integers is exact', async (t) => {
  const db = await tempDatabase(t, USERS)
  const { lastInsertRowid } = await db.execute('INSERT INTO users(id) VALUES (?)', [2n ** 62n])
  assert.equal(lastInsertRowid, 2n ** 62n)
})

// G26
test('a constraint violation has the extended code', async (t) => {
  const db = await tempDatabase(t, USERS)
  const sql = 'INSERT INTO users(name) VALUES (?)'
  await db.execute(sql, ['Ada'])
  await assert.rejects(db.execute(sql, ['Ada']), (error: SqliteError) => {
    assert.ok(error instanceof SqliteError)
    assert.equal(error.name, 'SqliteError')
    assert.equal(error.code, 'SQLITE_CONSTRAINT_UNIQUE')
    assert.equal(error.errno, 2067)
    assert.equal(error.sql, sql)
    assert.match(error.message, /users\.name/)
    return true
  })
})

// G47
test('of many concurrent writes each gets its own result, and a failure affects no other', async (t) => {
  const db = await tempDatabase(t, USERS)
  const results = await Promise.allSettled(
    Array.from({ length: 500 }, (_, i) =>
      db.execute('INSERT INTO users(id, name) VALUES (?, ?)', [i, `n${i - (i % 10 === 9 ? 1 : 0)}`]),
    ),
  )
  results.forEach((result, i) => {
    assert.equal(result.status, i % 10 === 9 ? 'rejected' : 'fulfilled', `write ${i}`)
    if (result.status === 'fulfilled') assert.equal(result.value.lastInsertRowid, i)
    else assert.equal(result.reason.code, 'SQLITE_CONSTRAINT_UNIQUE')
  })
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM users'), { n: 450 })
})

// G95
test('commit numbers never go back', async (t) => {
  const db = await tempDatabase(t, USERS)
  const writes = await Promise.all(
    Array.from({ length: 100 }, () => db.execute('INSERT INTO users DEFAULT VALUES')),
  )
  const commits = writes.map((write) => write.commit)
  assert.deepEqual(
    commits,
    [...commits].sort((a, b) => a - b),
  )
})

// G44
test('execute takes one statement', async (t) => {
  const db = await tempDatabase(t, USERS)
  await assert.rejects(db.execute('DELETE FROM users; DELETE FROM users'), withCode('RESQLITE_STATEMENT'))
  await assert.rejects(db.execute(''), withCode('RESQLITE_STATEMENT'))
})

// G44
test('execute takes statements that cannot share a transaction', async (t) => {
  const db = await tempDatabase(t, USERS)
  await db.execute("INSERT INTO users(name) VALUES ('Ada')")
  await Promise.all([db.execute('VACUUM'), db.execute("INSERT INTO users(name) VALUES ('Bob')")])
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM users'), { n: 2 })
})

test("durability: 'full' works like the rest", async (t) => {
  const db = await tempDatabase(t, USERS, { durability: 'full' })
  await db.execute("INSERT INTO users(name) VALUES ('Ada')")
  assert.deepEqual(await db.select('SELECT name FROM users'), [{ name: 'Ada' }])
})
