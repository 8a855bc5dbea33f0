import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { OPEN_READONLY } from '@resqlite/sqlite3'
import { type Owner, waiting } from '../src/waits'
import { all, exec, fileIn, get, like, open, run } from './support/database'

// G394
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

// G394
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

// G394
test('savepoints whose names differ by the case of other than ASCII letters are different', async (t) => {
  const db = await open(t)
  await exec(db, 'SAVEPOINT "É"; SAVEPOINT "é"; RELEASE "É"')
  await run(db, 'BEGIN')
  await run(db, 'COMMIT')
})

// G394
test('a savepoint that fails leaves no transaction open', async (t) => {
  const db = await open(t)
  await assert.rejects(run(db, 'SAVEPOINT ""'))
  await exec(db, 'BEGIN; COMMIT')
})

// G394
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

const BUSY = like('SQLITE_BUSY', 5, 'database is locked')

// G394
test('who waits for an idle transaction of another connection gets SQLITE_BUSY after the busy timeout', async (t) => {
  const file = fileIn(t)
  const one = await open(t, 'CREATE TABLE t(a)', { file })
  const two = await open(t, '', { file })
  two.configure('busyTimeout', 1)
  await run(one, 'BEGIN')
  await run(one, 'INSERT INTO t VALUES (1)')
  await assert.rejects(run(two, 'BEGIN IMMEDIATE'), BUSY)
  await assert.rejects(run(two, 'INSERT INTO t VALUES (2)'), BUSY)
  assert.deepEqual(await all(two, 'SELECT * FROM t'), [], 'reads need not wait')
  await run(one, 'COMMIT')
  await run(two, 'INSERT INTO t VALUES (2)')
  assert.equal((await all(one, 'SELECT * FROM t')).length, 2)
})

// G394
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

// G394
test('a transaction that only reads works on a database that is read-only', async (t) => {
  const file = fileIn(t)
  await open(t, 'CREATE TABLE t(a)', { file })
  const db = await open(t, '', { file, mode: OPEN_READONLY })
  await run(db, 'BEGIN')
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [])
  await run(db, 'COMMIT')
})

// G394
test('a write that waits since before the transaction of another connection began gets SQLITE_BUSY', async (t) => {
  const file = fileIn(t)
  const one = await open(t, 'CREATE TABLE t(a)', { file })
  const two = await open(t, '', { file })
  two.configure('busyTimeout', 1)
  const begun = run(one, 'BEGIN IMMEDIATE')
  await assert.rejects(run(two, 'INSERT INTO t VALUES (1)'), BUSY)
  await begun
  await run(one, 'COMMIT')
})

// G394
test('a call is not aborted because it has the lock itself, and does not know it yet', async () => {
  const controller = new AbortController()
  let replied = () => {}
  const transaction = { idle: true, since: Date.now() - 5000 }
  const resqlite = {
    diagnostics: async () => {
      setImmediate(replied)
      return { writer: { transaction, waitingForLock: null } }
    },
  } as unknown as Owner['resqlite']
  const owner: Owner = { resqlite, file: undefined, busyTimeout: 0, running: new Set() }
  await waiting(
    owner,
    controller,
    () =>
      new Promise<void>((resolve) => {
        replied = resolve
      }),
  )
  assert.equal(controller.signal.aborted, false)
})

// G394
test('a write that waits for an idle transaction of resqlite gets SQLITE_BUSY', async (t) => {
  for (const file of [':memory:', fileIn(t)]) {
    const db = await open(t, 'CREATE TABLE t(a)', { file })
    db.configure('busyTimeout', 1)
    const tx = await db.resqlite?.begin()
    await assert.rejects(run(db, 'INSERT INTO t VALUES (1)'), BUSY)
    await tx?.rollback()
    await run(db, 'INSERT INTO t VALUES (1)')
  }
})

// G394
test('a write that waits for the lock of another process gets SQLITE_BUSY', async (t) => {
  const file = fileIn(t)
  const db = await open(t, 'CREATE TABLE t(a)', { file })
  const script = `const { Database } = require('@resqlite/sqlite3')
    const db = new Database(process.argv[1])
    db.run('BEGIN IMMEDIATE', (error) => console.log(error ?? 'begun'))
    process.stdin.resume()`
  const holder = spawn(process.execPath, ['-e', script, file], {
    cwd: __dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => holder.kill())
  assert.equal(String((await once(holder.stdout, 'data'))[0]), 'begun\n')
  await run(db, 'PRAGMA busy_timeout = 1')
  const { cause } = await run(db, 'INSERT INTO t VALUES (1)').catch((error) => error)
  assert.equal(cause.code, 'RESQLITE_ABORTED', 'resqlite itself would wait for longer')
  await assert.rejects(run(db, 'INSERT INTO t VALUES (1)'), BUSY)
})

// G394
test('any number of writes may wait', async (t) => {
  const warnings: unknown[] = []
  const warn = (warning: unknown) => warnings.push(warning)
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  const file = fileIn(t)
  const one = await open(t, 'CREATE TABLE t(a); BEGIN IMMEDIATE', { file })
  const two = await open(t, '', { file })
  const writes = Array.from({ length: 20 }, () => run(two, 'INSERT INTO t VALUES (1)'))
  await get(two, 'SELECT 1')
  await run(one, 'COMMIT')
  await Promise.all(writes)
  assert.deepEqual(warnings, [])
})

// G394
test('an interrupt leaves a transaction open in which nothing runs', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  await run(db, 'BEGIN')
  await run(db, 'INSERT INTO t VALUES (1)')
  db.interrupt()
  await run(db, 'INSERT INTO t VALUES (2)')
  await run(db, 'COMMIT')
  assert.equal((await all(db, 'SELECT * FROM t')).length, 2)
})

// G394
test('statements run on their own after SQLite has rolled the transaction back', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)')
  for (const begin of ['BEGIN', 'BEGIN IMMEDIATE', 'SAVEPOINT x']) {
    await run(db, begin)
    await run(db, 'INSERT INTO t VALUES (2)')
    await assert.rejects(run(db, 'INSERT INTO t VALUES (1)'), 'this one leaves it open')
    await assert.rejects(run(db, 'INSERT OR ROLLBACK INTO t VALUES (1)'))
    assert.deepEqual(await all(db, 'SELECT a FROM t'), [{ a: 1 }])
    await assert.rejects(
      run(db, 'COMMIT'),
      like('SQLITE_ERROR', 1, 'cannot commit - no transaction is active'),
    )
  }
})

// G394
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

// G394
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
