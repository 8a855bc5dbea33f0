import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database, Statement } from '@resqlite/sqlite3'
import { all, exec, get, like, open, run } from './support/database'

const NUMBERS = 'CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)'

// G393
test('get goes through the rows, until reset or other parameters', async (t) => {
  const db = await open(t, NUMBERS)
  const statement = db.prepare('SELECT a FROM t WHERE a > ? ORDER BY a', 0)
  const rows = [await get(statement), await get(statement), await get(statement), await get(statement)]
  assert.deepEqual(rows, [{ a: 1 }, { a: 2 }, { a: 3 }, undefined])
  assert.equal(await get(statement), undefined)
  statement.reset()
  assert.deepEqual(await get(statement), { a: 1 })
  assert.deepEqual(await get(statement, 1), { a: 2 })
  assert.deepEqual(await all(statement), [{ a: 2 }, { a: 3 }])
})

// G393
test('get goes through the rows of one run, whatever is written meanwhile', async (t) => {
  const db = await open(t, NUMBERS)
  const statement = db.prepare('SELECT a FROM t')
  const seen: unknown[] = []
  for (let row = await get(statement); row !== undefined; row = await get(statement)) {
    seen.push(row.a)
    await run(db, 'DELETE FROM t WHERE a = ?', row.a)
  }
  assert.deepEqual(seen, [1, 2, 3])
  await exec(db, 'INSERT INTO t VALUES (4)')
  statement.reset()
  assert.deepEqual(await get(statement), { a: 4 })
})

// G393
test('get runs a statement that writes once, until reset', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  const statement = db.prepare('INSERT INTO t VALUES (1) RETURNING a')
  assert.deepEqual([await get(statement), await get(statement)], [{ a: 1 }, undefined])
  assert.equal((await all(db, 'SELECT * FROM t')).length, 1)
})

// G393
test('parameters stay until others are given', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a)')
  const statement = db.prepare('INSERT INTO t VALUES (?)')
  await run(statement, 'first')
  await run(statement)
  statement.bind('bound')
  await run(statement)
  assert.deepEqual(await all(db, 'SELECT a FROM t'), [{ a: 'first' }, { a: 'first' }, { a: 'bound' }])
})

// G393
test('finalize comes after the calls before it, and refuses those after it', async (t) => {
  const db = await open(t, NUMBERS)
  const told: string[] = []
  const statement = db.prepare('SELECT a FROM t')
  statement.all(() => told.push('all'))
  const returned = statement.finalize(() => told.push('finalized'))
  assert.equal(returned, db)
  for (let call = 0; call < 2; call++)
    await assert.rejects(all(statement), like('SQLITE_MISUSE', 21, 'Statement is already finalized'))
  assert.deepEqual(told, ['all', 'finalized'])
})

// G393
test('a statement that cannot be prepared tells it once, and does nothing', async (t) => {
  const db = await open(t)
  const told: string[] = []
  const statement = db.prepare('SELECT * FROM nope', (error) => told.push((error as Error).message))
  statement.run(() => told.push('ran'))
  await new Promise<void>((resolve) => statement.finalize(resolve))
  assert.deepEqual(told, ['SQLITE_ERROR: no such table: nope'])
})

// G393
test('its errors are events where there is no callback', async (t) => {
  const db = await open(t)
  const statement = db.prepare('SELECT * FROM nope')
  const error = await new Promise<Error>((resolve) => statement.on('error', resolve))
  assert.equal(error.message, 'SQLITE_ERROR: no such table: nope')
})

// G393
test('a statement needs a database and SQL', async (t) => {
  const db = await open(t)
  assert.throws(() => new Statement({} as Database, 'SELECT 1'), /Database object expected/)
  assert.throws(() => new Statement(db, 1 as never), /SQL query expected/)
  assert.throws(() => new Database(1 as never), /String expected/)
})
