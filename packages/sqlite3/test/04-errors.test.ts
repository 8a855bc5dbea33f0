import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import * as sqlite3 from '@resqlite/sqlite3'
import { all, get, like, open, run, tempFolder } from './support/database'

// G392
test('errors have the code, the number and the message of node-sqlite3', async (t) => {
  const db = await open(
    t,
    `PRAGMA foreign_keys = ON;
     CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT UNIQUE NOT NULL CHECK (a <> ''));
     CREATE TABLE u(t REFERENCES t);
     INSERT INTO t VALUES (1, 'x')`,
  )
  const constraint = (message: string) => like('SQLITE_CONSTRAINT', sqlite3.CONSTRAINT, message)
  await assert.rejects(run(db, "INSERT INTO t(a) VALUES ('x')"), constraint('UNIQUE constraint failed: t.a'))
  await assert.rejects(
    run(db, 'INSERT INTO t(a) VALUES (NULL)'),
    constraint('NOT NULL constraint failed: t.a'),
  )
  await assert.rejects(run(db, "INSERT INTO t VALUES (1, 'y')"), constraint('UNIQUE constraint failed: t.id'))
  await assert.rejects(
    run(db, "INSERT INTO t(a) VALUES ('')"),
    constraint("CHECK constraint failed: a <> ''"),
  )
  await assert.rejects(run(db, 'INSERT INTO u VALUES (9)'), constraint('FOREIGN KEY constraint failed'))
  await assert.rejects(run(db, 'SELEC'), like('SQLITE_ERROR', 1, 'near "SELEC": syntax error'))
  await assert.rejects(get(db, 'SELECT * FROM nope'), like('SQLITE_ERROR', 1, 'no such table: nope'))
  await assert.rejects(all(db, 'SELECT ?', [1, 2]), like('SQLITE_RANGE', 25, 'column index out of range'))
  await assert.rejects(all(db, 'SELECT $a', { $b: 1 }), like('SQLITE_RANGE', 25, 'column index out of range'))
  await assert.rejects(
    all(db, 'SELECT ?', { 4294967295: 1 }),
    like('SQLITE_RANGE', 25, 'column index out of range'),
  )
  await assert.rejects(run(db, ''), like('SQLITE_MISUSE', 21, 'not an error'))
})

// G392
test('a file that cannot be opened says so by the callback, or else by an event', async (t) => {
  const file = join(tempFolder(t), 'missing', 'test.db')
  await assert.rejects(open(t, '', { file }), like('SQLITE_CANTOPEN', 14, 'unable to open database file'))
  const error = await new Promise<Error>((resolve) => new sqlite3.Database(file).on('error', resolve))
  assert.equal(error.message, 'SQLITE_CANTOPEN: unable to open database file')
})

// G392
test('the mode says whether a file is created and written', async (t) => {
  const file = join(tempFolder(t), 'test.db')
  const missing = open(t, '', { file, mode: sqlite3.OPEN_READWRITE })
  await assert.rejects(missing, like('SQLITE_CANTOPEN', 14, 'unable to open database file'))
  await open(t, 'CREATE TABLE t(a)', { file })
  const reader = await open(t, '', { file, mode: sqlite3.OPEN_READONLY })
  assert.deepEqual(await all(reader, 'SELECT * FROM t'), [])
  const readOnly = like('SQLITE_READONLY', 8, 'attempt to write a readonly database')
  await assert.rejects(run(reader, 'INSERT INTO t VALUES (1)'), readOnly)
})

// G392
test('the cause is the error of resqlite', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)')
  await assert.rejects(run(db, 'INSERT INTO t VALUES (1)'), ({ cause }: Error) => {
    return (cause as { code?: string }).code === 'SQLITE_CONSTRAINT_UNIQUE'
  })
})

/** Runs a program, and returns what it printed for people. */
function stderrOf(source: string): string {
  const script = `const db = new (require('@resqlite/sqlite3').Database)(':memory:'); ${source}`
  return spawnSync(process.execPath, ['-e', script], { cwd: __dirname, encoding: 'utf8' }).stderr
}

// G392
test('an error that nobody takes, and what a callback throws, end the program', () => {
  assert.match(stderrOf("db.run('SELECT * FROM nope')"), /SQLITE_ERROR: no such table: nope/)
  assert.match(
    stderrOf("db.run('SELECT 1', () => { throw new Error('of the callback') })"),
    /of the callback/,
  )
})

// G392
test('a call of a closed database throws where nobody takes its errors, and close returns the database', async () => {
  const db = new sqlite3.Database(':memory:')
  const closed = new Promise<unknown>((resolve) => {
    const returned = db.close(() => resolve(returned))
  })
  assert.equal(await closed, db)
  const misuse = like('SQLITE_MISUSE', 21, 'Database is closed')
  assert.throws(() => db.run('SELECT 1'), misuse)
  assert.throws(() => db.prepare('SELECT 1'), misuse)
  assert.throws(() => db.exec('SELECT 1'), misuse)
  assert.throws(() => db.close(), misuse)
})

// G392
test('interrupt needs an open database', async () => {
  const db = new sqlite3.Database(':memory:')
  assert.throws(() => db.interrupt(), /Database is not open/)
  await new Promise((resolve) => db.close(resolve))
  assert.throws(() => db.interrupt(), /Database is not open/)
})

// G392
test('verbose makes errors tell the call that they belong to', () => {
  const told = stderrOf(`require('@resqlite/sqlite3').verbose()
    db.run('SELECT * FROM nope', [1], (error) => console.error(error.stack))`)
  assert.match(told, /--> in Database#run\('SELECT \* FROM nope', \[ 1 \], \[Function/)
})
