import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { Database } from '@resqlite/sqlite3'
import { all, exec, open, wait } from './support/database'

// G393
test('calls wait until the database is open', async (t) => {
  const db = new Database(':memory:')
  t.after(() => new Promise((resolve) => db.close(resolve)))
  db.exec('CREATE TABLE t(a)')
  assert.equal(db.open, false)
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [])
  assert.equal(db.open, true)
})

// G393
test('what is called in serialize runs one after the other', async (t) => {
  const db = await open(t)
  const told: string[] = []
  db.serialize(() => {
    db.run('CREATE TABLE t(a)', () => told.push('created'))
    const statement = db.prepare('INSERT INTO t VALUES (?)')
    for (let a = 0; a < 10; a++) statement.run(a)
    statement.finalize(() => told.push('finalized'))
    db.all('SELECT * FROM t', (_: unknown, rows: unknown[]) => told.push(`${rows.length} rows`))
  })
  await wait(db)
  assert.deepEqual(told, ['created', 'finalized', '10 rows'])
})

// G393
test('serialize without a callback lasts until parallelize', async (t) => {
  const db = await open(t)
  const counted = (limit: string) =>
    `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c ${limit}) SELECT count(x) FROM c`
  const told: string[] = []
  const sideBySide = () => {
    db.all(counted(''), (error: Error) => told.push(error.message))
    db.all('SELECT 1', () => told.push('fast') && db.interrupt())
  }
  sideBySide()
  db.serialize()
  db.all(counted('LIMIT 1000000'), () => told.push('slow'))
  db.all('SELECT 1', () => told.push('fast'))
  db.parallelize()
  sideBySide()
  await wait(db)
  const interrupted = ['fast', 'SQLITE_INTERRUPT: interrupted']
  assert.deepEqual(told, [...interrupted, 'slow', 'fast', ...interrupted])
})

// G393
test('a transaction waits for what was called before, and what is called after waits for it', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  db.run('INSERT INTO t VALUES (1)')
  db.run('BEGIN')
  db.run('INSERT INTO t VALUES (2)')
  db.run('ROLLBACK')
  db.run('INSERT INTO t VALUES (3)')
  await wait(db)
  assert.deepEqual(await all(db, 'SELECT a FROM t'), [{ a: 1 }, { a: 3 }])
})

// G393
test('wait calls back when everything before is done', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  let done = 0
  for (let a = 0; a < 20; a++) db.run('INSERT INTO t VALUES (?)', a, () => done++)
  await wait(db)
  assert.equal(done, 20)
})

// G393
test('close comes after what was called before, and refuses what is called after', async () => {
  const db = new Database(':memory:')
  const told: string[] = []
  const closed = new Promise<void>((resolve) => {
    db.run('CREATE TABLE t(a)', (error) => told.push(`ran ${error}`))
    db.on('close', () => told.push('close'))
    db.close((error) => told.push(`closed ${error}`))
    db.run('SELECT 1', (error) => {
      told.push((error as Error).message)
      resolve()
    })
  })
  await closed
  assert.deepEqual(told, ['ran null', 'closed null', 'close', 'SQLITE_MISUSE: Database handle is closed'])
  await assert.rejects(exec(db, 'SELECT 1'), /SQLITE_MISUSE: Database is closed/)
})

// G393
test('callbacks have the asynchronous context of their calls', async (t) => {
  const db = await open(t)
  const storage = new AsyncLocalStorage<number>()
  const found: unknown[] = []
  db.serialize(() => {
    for (let n = 0; n < 3; n++) storage.run(n, () => db.run('SELECT 1', () => found.push(storage.getStore())))
  })
  await wait(db)
  assert.deepEqual(found, [0, 1, 2])
})
