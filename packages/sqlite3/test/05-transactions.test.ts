import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OPEN_READONLY } from '@resqlite/sqlite3'
import { all, exec, fileIn, get, like, open, run } from './support/database'

test('a transaction is committed or rolled back by SQL', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  await run(db, 'BEGIN TRANSACTION')
  await run(db, 'INSERT INTO t VALUES (1)')
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [{ a: 1 }], 'it sees what it has written')
  await run(db, 'ROLLBACK')
  await exec(db, 'BEGIN IMMEDIATE; INSERT INTO t VALUES (2)')
  await exec(db, 'INSERT INTO t VALUES (3); END')
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [{ a: 2 }, { a: 3 }])
})

test('savepoints nest, and the first one may begin the transaction', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  await exec(
    db,
    `SAVEPOINT "a"; INSERT INTO t VALUES (1);
     SAVEPOINT A; INSERT INTO t VALUES (2); ROLLBACK TO a; RELEASE a; RELEASE a`,
  )
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [{ a: 1 }])
  await run(db, 'BEGIN')
  await run(db, 'COMMIT')
})

test('a second BEGIN, and an end without a beginning, are errors at once', async (t) => {
  const db = await open(t)
  const failed = (message: string) => like('SQLITE_ERROR', 1, message)
  await run(db, 'BEGIN')
  await assert.rejects(run(db, 'BEGIN'), failed('cannot start a transaction within a transaction'))
  await run(db, 'COMMIT')
  await assert.rejects(run(db, 'COMMIT'), failed('cannot commit - no transaction is active'))
  await assert.rejects(run(db, 'ROLLBACK'), failed('cannot rollback - no transaction is active'))
  await assert.rejects(run(db, 'RELEASE x'), failed('no such savepoint: x'))
})

test('who waits for an idle transaction of another connection gets SQLITE_BUSY after the busy timeout', async (t) => {
  const file = fileIn(t)
  const one = await open(t, 'CREATE TABLE t(a)', { file })
  const two = await open(t, '', { file })
  two.configure('busyTimeout', 1)
  await run(one, 'BEGIN')
  await run(one, 'INSERT INTO t VALUES (1)')
  const busy = { code: 'SQLITE_BUSY', errno: 5, message: /^SQLITE_BUSY: database is locked/ }
  await assert.rejects(run(two, 'BEGIN IMMEDIATE'), busy)
  await assert.rejects(run(two, 'INSERT INTO t VALUES (2)'), busy)
  assert.deepEqual(await all(two, 'SELECT * FROM t'), [], 'reads need not wait')
  await run(one, 'COMMIT')
  await run(two, 'INSERT INTO t VALUES (2)')
  assert.equal((await all(one, 'SELECT * FROM t')).length, 2)
})

test('a deferred transaction takes the lock with its first statement', async (t) => {
  const file = fileIn(t)
  const one = await open(t, 'CREATE TABLE t(a)', { file })
  const two = await open(t, '', { file })
  two.configure('busyTimeout', 1)
  await run(one, 'BEGIN')
  await run(two, 'BEGIN DEFERRED TRANSACTION')
  await assert.rejects(run(one, 'BEGIN'), /cannot start a transaction within a transaction/)
  await Promise.all([run(one, 'INSERT INTO t VALUES (1)'), run(one, 'INSERT INTO t VALUES (2)')])
  await assert.rejects(all(two, 'SELECT * FROM t'), { code: 'SQLITE_BUSY' })
  await run(one, 'COMMIT')
  assert.equal((await all(two, 'SELECT * FROM t')).length, 2, 'it is still open, and tries again')
  await run(two, 'ROLLBACK')
  await exec(two, 'BEGIN; COMMIT; BEGIN; ROLLBACK')
})

test('a transaction that only reads works on a database that is read-only', async (t) => {
  const file = fileIn(t)
  await open(t, 'CREATE TABLE t(a)', { file })
  const db = await open(t, '', { file, mode: OPEN_READONLY })
  await run(db, 'BEGIN')
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [])
  await run(db, 'COMMIT')
})

test('transactions of several connections that go on wait for each other', async (t) => {
  const file = fileIn(t)
  await open(t, 'CREATE TABLE t(n); INSERT INTO t VALUES (0)', { file })
  const increment = async () => {
    const db = await open(t, '', { file })
    await run(db, 'BEGIN')
    const row = await get(db, 'SELECT n FROM t')
    await run(db, 'UPDATE t SET n = ?', (row?.n as number) + 1)
    await run(db, 'COMMIT')
    return db
  }
  const [db] = await Promise.all(Array.from({ length: 10 }, increment))
  assert.deepEqual(db && (await get(db, 'SELECT n FROM t')), { n: 10 })
})

test('closing rolls back what is open', async (t) => {
  const file = fileIn(t)
  const other = await open(t, 'CREATE TABLE t(a)', { file })
  const db = await open(t, '', { file })
  await run(db, 'BEGIN')
  await run(db, 'INSERT INTO t VALUES (1)')
  await new Promise((resolve) => db.close(resolve))
  await run(other, 'INSERT INTO t VALUES (2)')
  assert.deepEqual(await all(other, 'SELECT * FROM t'), [{ a: 2 }])
})
