import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database, type DatabaseOptions } from '@resqlite/sqlite3'
import { Database as Resqlite } from 'resqlite'
import { all, exec, fileIn, get, like, open, run } from './support/database'

const PARENTS = `
  CREATE TABLE parents(id INTEGER PRIMARY KEY);
  CREATE TABLE children(p INTEGER REFERENCES parents ON DELETE CASCADE)`
const orphan = 'INSERT INTO children VALUES (1)'

/** A class of databases with these options. */
function withOptions(options: DatabaseOptions): typeof Database {
  return class extends Database {
    static override options = options
  }
}

// G395
test('text in double quotes is a text where no column has the name, unless that is switched off', async (t) => {
  const script = 'CREATE TABLE t(a TEXT DEFAULT "none"); INSERT INTO t DEFAULT VALUES'
  const db = await open(t, script)
  assert.deepEqual(await all(db, 'SELECT "a", "text" AS b FROM t WHERE a = "none"'), [
    { a: 'none', b: 'text' },
  ])
  const Class = withOptions({ doubleQuotedStrings: false })
  const strict = await open(t, 'CREATE TABLE t(a)', { Class })
  await assert.rejects(all(strict, 'SELECT "text" FROM t'), /SQLITE_ERROR: no such column: "text"/)
})

// G395
test('foreign keys are off until PRAGMA foreign_keys', async (t) => {
  for (const file of [':memory:', fileIn(t)]) {
    const db = await open(t, `${PARENTS}; ${orphan}; DELETE FROM children`, { file })
    assert.deepEqual(await all(db, 'PRAGMA foreign_keys'), [{ foreign_keys: 0 }])
    await run(db, 'PRAGMA foreign_keys = ON')
    assert.deepEqual(await all(db, 'PRAGMA foreign_keys'), [{ foreign_keys: 1 }])
    await assert.rejects(run(db, orphan), like('SQLITE_CONSTRAINT', 19, 'FOREIGN KEY constraint failed'))
  }
})

// G395
test('PRAGMA foreign_keys is carried out in every spelling', async (t) => {
  for (const pragma of [
    '-- a comment\nPRAGMA foreign_keys = ON',
    'PRAGMA foreign_keys = ON; -- a comment',
    '/* a comment */ pragma main.foreign_keys = yes ;',
    'PRAGMA "foreign_keys"(ON)',
    'PRAGMA [foreign_keys] = [on]',
    'PRAGMA foreign_keys = 01',
    'PRAGMA foreign_keys = 0x1',
    "PRAGMA foreign_keys = 'true'",
  ]) {
    for (const call of [run, exec]) {
      const db = await open(t, PARENTS)
      await call(db, pragma)
      await assert.rejects(run(db, orphan), { errno: 19 }, pragma)
    }
  }
})

// G395
test('with them switched off again, tables can be rebuilt in any order', async (t) => {
  for (const file of [':memory:', fileIn(t)]) {
    const db = await open(t, `${PARENTS}; INSERT INTO parents VALUES (1); ${orphan}`, { file })
    await run(db, 'PRAGMA foreign_keys = ON')
    await run(db, 'PRAGMA foreign_keys = OFF')
    await run(db, 'DROP TABLE parents')
    await run(db, 'CREATE TABLE parents(id INTEGER PRIMARY KEY, name)')
    await exec(db, 'INSERT INTO parents(id) VALUES (1); PRAGMA foreign_keys = ON')
    assert.deepEqual(await all(db, 'SELECT * FROM children'), [{ p: 1 }])
  }
})

// G395
test('where another database of the file has them on, what does not hold is found by the commit', async (t) => {
  const file = fileIn(t)
  const db = await open(t, `${PARENTS}; INSERT INTO parents VALUES (1); ${orphan}`, { file })
  await run(db, 'PRAGMA foreign_keys = ON')
  const other = await open(t, 'PRAGMA foreign_keys = ON', { file })
  await run(db, 'PRAGMA foreign_keys = OFF')
  await exec(db, 'BEGIN; DELETE FROM parents; INSERT INTO parents VALUES (1); COMMIT')
  assert.deepEqual(await all(db, 'SELECT * FROM children'), [{ p: 1 }], 'there was no cascade')
  await run(db, 'BEGIN')
  await run(db, 'DELETE FROM parents')
  await assert.rejects(run(db, 'COMMIT'), { code: 'SQLITE_CONSTRAINT', errno: 19 })
  await assert.rejects(run(other, 'INSERT INTO children VALUES (9)'), { errno: 19 })
})

// G395
test('a second database of a file whose foreign keys are on leaves them on for the first', async (t) => {
  const file = fileIn(t)
  const first = await open(t, PARENTS, { file })
  await run(first, 'PRAGMA foreign_keys = ON')
  const second = await open(t, '', { file })
  await run(second, 'PRAGMA foreign_keys = ON')
  await assert.rejects(run(first, orphan), { errno: 19 })
  await assert.rejects(run(second, orphan), { errno: 19 })
})

// G395
test('a file that resqlite has open is as it has it', async (t) => {
  const file = fileIn(t)
  const own = await Resqlite.open(file)
  t.after(() => own.close())
  const db = await open(t, PARENTS, { file })
  assert.deepEqual(await all(db, 'PRAGMA foreign_keys'), [{ foreign_keys: 0 }])
  await assert.rejects(run(db, orphan), { errno: 19 })
  await assert.rejects(all(db, 'SELECT "text"'), /no such column/)
  const Class = withOptions({ doubleQuotedStrings: true })
  await assert.rejects(open(t, '', { file, Class }), /doubleQuotedStrings: .* is open/)
})

// G395
test('PRAGMAs for what is so anyway are accepted', async (t) => {
  const db = await open(t, '', { file: fileIn(t) })
  assert.deepEqual(await all(db, 'PRAGMA journal_mode = WAL'), [{ journal_mode: 'wal' }])
  assert.deepEqual(await all(db, 'PRAGMA journal_mode = DELETE'), [{ journal_mode: 'wal' }])
  assert.deepEqual(await all(db, 'PRAGMA busy_timeout = 5000'), [{ timeout: 5000 }])
  for (const pragma of [
    'synchronous = NORMAL',
    'cache_size = -2000',
    'temp_store = MEMORY',
    'mmap_size(1)',
    "KEY='a b;'",
    'journal_mode = WAL -- a comment',
  ]) {
    await exec(db, `PRAGMA ${pragma}`)
    await run(db, `/* a comment */ PRAGMA ${pragma}`)
  }
  await exec(db, 'PRAGMA main.user_version = 7')
  assert.deepEqual(await get(db, 'PRAGMA user_version'), { user_version: 7 })
})

// G395
test('PRAGMA synchronous = FULL is refused, unless the database was opened so', async (t) => {
  const db = await open(t)
  await assert.rejects(exec(db, 'PRAGMA synchronous = FULL'), /use the option for durability/)
  const durable = await open(t, '', { Class: withOptions({ durability: 'full' }) })
  await exec(durable, 'PRAGMA synchronous = FULL')
})

// G395
test('a PRAGMA that is set at the opening opens the database anew, with its content', async (t) => {
  for (const file of [':memory:', fileIn(t)]) {
    const db = await open(t, "CREATE TABLE t(a); INSERT INTO t VALUES ('X')", { file })
    await exec(db, 'PRAGMA case_sensitive_like = ON')
    assert.deepEqual(await all(db, "SELECT * FROM t WHERE a LIKE 'x'"), [])
    assert.deepEqual(await all(db, "SELECT * FROM t WHERE a LIKE 'X'"), [{ a: 'X' }])
  }
})

// G395
test('foreign keys are not switched on where that would lose temporary tables or attached files', async (t) => {
  const script = 'CREATE TEMP TABLE found(id); INSERT INTO found VALUES (1)'
  const db = await open(t, script, { file: fileIn(t) })
  const other = fileIn(t)
  await open(t, '', { file: other })
  await run(db, 'ATTACH ? AS other', other)
  const why = 'foreignKeys cannot be changed: it opens the database anew, where'
  const refused = (name: string) => like('SQLITE_ERROR', 1, `${why} ${name} would be gone`)
  await assert.rejects(run(db, 'PRAGMA foreign_keys = ON'), refused('other'))
  await run(db, 'DETACH other')
  await assert.rejects(run(db, 'PRAGMA foreign_keys = ON'), refused('found'))
  assert.equal((await all(db, 'SELECT * FROM found')).length, 1)
  await run(db, 'DROP TABLE found')
  await run(db, 'PRAGMA foreign_keys = ON')
  assert.deepEqual(await all(db, 'PRAGMA foreign_keys'), [{ foreign_keys: 1 }])
})

// G395
test('one that another database of the file prevents is an error, and leaves it as it was', async (t) => {
  const file = fileIn(t)
  const db = await open(t, 'CREATE TABLE t(a)', { file })
  await open(t, '', { file })
  await assert.rejects(exec(db, 'PRAGMA case_sensitive_like = ON'), /is open in this process already/)
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [])
})

// G395
test('file: names are URLs, and all names of memory are private', async (t) => {
  for (const file of ['', 'file::memory:?cache=shared', 'file:shared?mode=memory&cache=shared']) {
    const db = await open(t, 'CREATE TABLE t(a)', { file })
    assert.deepEqual(await all(db, 'SELECT * FROM t'), [])
  }
  const file = fileIn(t)
  await open(t, 'CREATE TABLE t(a)', { file: `file:${file}?cache=private` })
  assert.deepEqual(await all(await open(t, '', { file }), 'SELECT * FROM t'), [])
})

// G395
test('configure knows the options of node-sqlite3, but sets no limits', async (t) => {
  const db = await open(t)
  assert.equal(db.configure('busyTimeout', 10), db)
  assert.throws(() => db.configure('busyTimeout', 'x' as never), /Value must be an integer/)
  assert.throws(() => db.configure('limit' as never, 1 as never), /limits cannot be set/)
  assert.throws(() => db.configure('other' as never, true), /other is not a valid configuration option/)
})
