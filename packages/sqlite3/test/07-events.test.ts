import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import sqlite3, { cached, Database } from '@resqlite/sqlite3'
import { all, exec, fileIn, open, run } from './support/database'

// G393
test('open and close are events', async () => {
  const db = new Database(':memory:')
  await once(db, 'open')
  db.close()
  await once(db, 'close')
  assert.equal(db.open, false)
})

// G393
test('trace tells statements, and profile their milliseconds', async (t) => {
  const db = await open(t)
  const told: unknown[] = []
  db.on('trace', (sql) => told.push(sql))
  db.on('profile', (sql, milliseconds) => told.push(sql, typeof milliseconds))
  await exec(db, 'CREATE TABLE t(a)')
  await run(db, 'INSERT INTO t VALUES (?)', 1)
  const insert = 'INSERT INTO t VALUES (?)'
  assert.deepEqual(told, ['CREATE TABLE t(a)', 'CREATE TABLE t(a)', 'number', insert, insert, 'number'])
})

// G393
test('change tells each row that was changed', async (t) => {
  const db = await open(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY, a)')
  const next = async (sql: string) => {
    const [change] = await Promise.all([once(db, 'change'), run(db, sql)])
    return change
  }
  db.on('change', () => {})
  assert.deepEqual(await next('INSERT INTO t VALUES (5, 1)'), ['insert', 'main', 't', 5])
  assert.deepEqual(await next('UPDATE t SET a = 2'), ['update', 'main', 't', 5])
  assert.deepEqual(await next('DELETE FROM t'), ['delete', 'main', 't', 5])
  await exec(db, 'PRAGMA foreign_keys = ON')
  assert.deepEqual(await next('INSERT INTO t VALUES (6, 1)'), ['insert', 'main', 't', 6])
})

// G393
test('cached databases are one for each file', async (t) => {
  const file = fileIn(t)
  const opened = () =>
    new Promise<Database>((resolve) => {
      const db = new cached.Database(file, () => resolve(db))
    })
  const [one, two] = await Promise.all([opened(), opened()])
  t.after(() => new Promise((resolve) => one.close(resolve)))
  assert.equal(one, two)
  assert.equal(await opened(), one)
  assert.equal(cached.objects[file], one)
  assert.notEqual(new cached.Database(':memory:'), new cached.Database(':memory:'))
})

// G393
test('the database of resqlite is there for live queries', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  const live = db.resqlite?.stream<{ a: number }>('SELECT a FROM t')[Symbol.asyncIterator]()
  assert.deepEqual((await live?.next())?.value, [])
  await run(db, 'INSERT INTO t VALUES (1)')
  assert.deepEqual((await live?.next())?.value, [{ a: 1 }])
  await live?.return?.()
})

// G393
test('the module has the constants, and is its own default export', async (t) => {
  assert.deepEqual(
    [sqlite3.OPEN_READWRITE | sqlite3.OPEN_CREATE, sqlite3.BUSY, sqlite3.LIMIT_ATTACHED],
    [6, 5, 7],
  )
  assert.match(sqlite3.VERSION, /^3\.\d+\.\d+$/)
  assert.ok(sqlite3.VERSION_NUMBER > 3_050_000)
  assert.equal(sqlite3.verbose().Database, Database)
  const db = await open(t)
  assert.deepEqual([db.filename, db.mode], [':memory:', 0x10006])
  assert.deepEqual(await all(db, 'SELECT 1 AS one'), [{ one: 1 }])
})
