import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '@resqlite/sqlite3'
import { all, exec, fileIn, get, like, open, run } from './support/database'

const USERS = 'CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT UNIQUE, age)'

// G392
test('run tells the rowid and the number of changes by this', async (t) => {
  const db = await open(t, USERS)
  assert.deepEqual(await run(db, 'INSERT INTO users(name) VALUES (?)', 'Ada'), { lastID: 1, changes: 1 })
  assert.deepEqual(await run(db, 'INSERT INTO users(name) VALUES (?)', ['Grace']), { lastID: 2, changes: 1 })
  assert.deepEqual(await run(db, 'UPDATE users SET age = 36'), { lastID: 2, changes: 2 })
  assert.deepEqual(await run(db, 'SELECT 1'), { lastID: 2, changes: 2 }, 'they stay until others come')
})

// G392
test('an upsert that updates leaves the rowid of the last insert', async (t) => {
  const db = await open(t, USERS)
  const upsert = 'INSERT INTO users(name) VALUES (?) ON CONFLICT DO UPDATE SET age = 1'
  await run(db, upsert, 'Ada')
  await run(db, upsert, 'Grace')
  assert.deepEqual(await run(db, upsert, 'Ada'), { lastID: 2, changes: 1 })
})

// G392
test('get returns the first row, or undefined, and all returns all', async (t) => {
  const db = await open(t, `${USERS}; INSERT INTO users VALUES (1, 'Ada', 36), (2, 'Grace', NULL)`)
  assert.deepEqual(await get(db, 'SELECT * FROM users ORDER BY id'), { id: 1, name: 'Ada', age: 36 })
  assert.equal(await get(db, 'SELECT * FROM users WHERE id = ?', 3), undefined)
  assert.deepEqual(await all(db, 'SELECT name FROM users ORDER BY id'), [{ name: 'Ada' }, { name: 'Grace' }])
  assert.deepEqual(await all(db, 'SELECT name FROM users WHERE id > 5'), [])
  assert.deepEqual(await get(db, 'INSERT INTO users(name) VALUES (?) RETURNING id', 'Edsger'), { id: 3 })
})

// G392
test('each calls back with each row, and then with their number', async (t) => {
  const db = await open(t, `${USERS}; INSERT INTO users(name) VALUES ('Ada'), ('Grace')`)
  const names: unknown[] = []
  const count = await new Promise((resolve) => {
    db.each(
      'SELECT name FROM users WHERE id < ? ORDER BY id',
      9,
      (_: unknown, { name }: { name: string }) => names.push(name),
      (_: unknown, n: number) => resolve(n),
    )
  })
  assert.deepEqual([names, count], [['Ada', 'Grace'], 2])
})

// G392
test('map has the first column as keys', async (t) => {
  const db = await open(t, `${USERS}; INSERT INTO users(name, age) VALUES ('Ada', 36)`)
  const map = (sql: string) =>
    new Promise((resolve) => db.map(sql, (_: unknown, found: unknown) => resolve(found)))
  assert.deepEqual(await map('SELECT name, age FROM users'), { Ada: 36 })
  assert.deepEqual(await map('SELECT name, age, id FROM users'), { Ada: { name: 'Ada', age: 36, id: 1 } })
})

// G392
test('exec runs a script, with triggers and its own transaction', async (t) => {
  const db = await open(t, USERS)
  await exec(
    db,
    `BEGIN; -- a comment; with a semicolon
     CREATE TABLE log(text);
     CREATE TRIGGER added AFTER INSERT ON users BEGIN
       INSERT INTO log VALUES ('; END;'); SELECT CASE WHEN 1 THEN 2 END;
     END;
     INSERT INTO users(name) VALUES ('Ada');
     COMMIT;`,
  )
  assert.deepEqual(await all(db, 'SELECT * FROM log'), [{ text: '; END;' }])
  await exec(db, ' -- nothing')
})

const parameters: [given: unknown[], sql: string, found: unknown[]][] = [
  [[1, 'a'], 'SELECT ? AS a, ? AS b', [1, 'a']],
  [[[1, 'a']], 'SELECT ? AS a, ? AS b', [1, 'a']],
  [[{ $a: 1, $b: 'x' }], 'SELECT $a, $b', [1, 'x']],
  [[{ ':a': 1, '@b': 'x' }], 'SELECT :a, @b', [1, 'x']],
  [[{ 2: 'second', 1: 'first' }], 'SELECT ? AS a, ? AS b', ['first', 'second']],
  [[[null, 'x', null, 5]], 'SELECT ?2, ?4', ['x', 5]],
  [[[true, false]], 'SELECT ? AS a, ? AS b', [1, 0]],
  [[[new Date(1500), /a+/g]], 'SELECT ? AS a, ? AS b', [1500, '/a+/g']],
  [[Number.NaN], 'SELECT ?', [null]],
  [[{ $a: 1, $unused: undefined }], 'SELECT $a AS a, $b AS b', [1, null]],
  [[[{ nested: 1 }]], 'SELECT ?', ['[object Object]']],
  [[[Buffer.from('ab')]], 'SELECT ?', [Buffer.from('ab')]],
  [[[1]], 'SELECT ? AS a, ? AS b', [1, null]],
  [[{ $a: 1 }], 'SELECT $a, $b', [1, null]],
  [[undefined], 'SELECT 1', [1]],
  [[[9007199254740993n]], 'SELECT ?', [9007199254740993n]],
]

// G392
test('parameters are given in all the ways of node-sqlite3, and are NULL where they are missing', async (t) => {
  const db = await open(t)
  for (const [given, sql, found] of parameters) {
    assert.deepEqual(Object.values((await get(db, sql, ...given)) ?? {}), found, `${sql} ${String(given)}`)
  }
})

// G392
test('of several statements the first runs', async (t) => {
  const db = await open(t, USERS)
  await run(db, 'INSERT INTO users(name) VALUES (?); DELETE FROM users', 'Ada')
  assert.equal((await all(db, 'SELECT * FROM users')).length, 1)
})

// G392
test('last_insert_rowid() and changes() are those of this database', async (t) => {
  const db = await open(t, USERS)
  const other = await open(t, USERS)
  await run(db, "INSERT INTO users(id, name) VALUES (7, 'Ada'), (8, 'Grace')")
  await run(other, "INSERT INTO users(name) VALUES ('Edsger')")
  assert.deepEqual(await get(db, 'SELECT last_insert_rowid() AS id, changes()'), { id: 8, 'changes()': 2 })
  assert.deepEqual(await all(db, 'SELECT last_insert_rowid()'), [{ 'last_insert_rowid()': 8 }])
  await run(db, 'INSERT INTO users(age) VALUES (last_insert_rowid())')
  assert.deepEqual(await get(db, 'SELECT age FROM users WHERE id = 9'), { age: 8 })
})

// G392
test('rowids beyond 2⁵³ are exact', async (t) => {
  const db = await open(t, USERS)
  const id = 9007199254740993n
  assert.deepEqual(await run(db, 'INSERT INTO users(id) VALUES (?)', id), { lastID: id, changes: 1 })
  assert.deepEqual(await get(db, 'SELECT last_insert_rowid() AS id'), { id })
})

// G392
test('last_insert_rowid() and changes() are those of the last script, too', async (t) => {
  const db = await open(t, `${USERS}; INSERT INTO users(id) VALUES (7), (8)`)
  const facts = async () => Object.values((await get(db, 'SELECT last_insert_rowid(), changes()')) ?? {})
  assert.deepEqual(await facts(), [8, 2])
  await exec(db, 'INSERT INTO users(id) VALUES (20)')
  assert.deepEqual(await facts(), [20, 1])
  await exec(
    db,
    `UPDATE users SET age = last_insert_rowid() + changes();
     INSERT INTO users(id, age) VALUES (30, changes());
     INSERT INTO users(id, age) VALUES (40, last_insert_rowid());
     SELECT * FROM users`,
  )
  assert.deepEqual(await facts(), [40, 1])
  assert.deepEqual(
    await all(db, 'SELECT DISTINCT age FROM users ORDER BY id'),
    [21, 3, 30].map((age) => ({ age })),
  )
  await exec(db, 'BEGIN; INSERT INTO users(id) VALUES (50), (51); DELETE FROM users WHERE id < 50')
  assert.deepEqual(await facts(), [51, 5])
  await exec(db, 'ROLLBACK')
})

// G392
test('a script is all or nothing, unless it has statements that no transaction can have', async (t) => {
  const db = await open(t, USERS)
  const wrong = 'INSERT INTO users(id) VALUES (1); INSERT INTO nowhere VALUES (1)'
  await assert.rejects(exec(db, wrong), like('SQLITE_ERROR', 1, 'no such table: nowhere'))
  assert.deepEqual(await all(db, 'SELECT id FROM users'), [])
  await assert.rejects(exec(db, `VACUUM; ${wrong}`), { errno: 1 })
  assert.deepEqual(await all(db, 'SELECT id FROM users'), [{ id: 1 }])
})

// G392
test('texts, names and comments that look like last_insert_rowid() and changes() stay as they are', async (t) => {
  const db = await open(t, "CREATE TABLE t(a); INSERT INTO t VALUES ('it''s changes()')")
  const text = 'I made changes() to last_insert_rowid ()'
  for (const literal of [`'${text}'`, `"${text}"`, `'it''s ${text}'`]) {
    await run(db, `INSERT INTO t VALUES (${literal})`)
  }
  assert.deepEqual(
    (await all(db, 'SELECT a FROM t')).map(({ a }) => a),
    ["it's changes()", text, text, `it's ${text}`],
  )
  for (const name of ['"changes()"', '[changes()]', '`changes()`']) {
    const sql = `SELECT 1 AS ${name} /* changes() */ -- changes()`
    assert.deepEqual(await get(db, sql), { 'changes()': 1 }, sql)
  }
  assert.deepEqual(await get(db, 'SELECT changes /* all */ ( ) AS n'), { n: 1 })
})

// G392
test('temporary tables are there for all statements', async (t) => {
  const db = await open(t)
  await exec(db, 'CREATE TEMP TABLE found(id)')
  await run(db.prepare('INSERT INTO found VALUES (1)'))
  assert.deepEqual(await all(db, 'SELECT * FROM found'), [{ id: 1 }])
})

// G392
test('temporary tables are recognised in every spelling', async (t) => {
  for (const create of [
    '/* a comment */ CREATE TEMP TABLE found',
    '; -- a comment\n create/**/temporary table if not exists "found"',
    'CREATE TABLE temp.found',
    'CREATE TABLE IF NOT EXISTS [temp].found',
  ]) {
    const db = await open(t)
    await run(db, `${create}(id)`)
    assert.deepEqual(await all(db, 'SELECT * FROM found'), [], create)
  }
})

// G392
test('beside temporary tables, statements are prepared, and those run that no transaction can have', async (t) => {
  const script = 'CREATE TEMP TABLE found(id); INSERT INTO found VALUES (1), (2)'
  const db = await open(t, script, { file: fileIn(t) })
  await new Promise<void>((resolve, reject) => {
    db.prepare('SELECT * FROM found WHERE id = ?', (error) => (error ? reject(error) : resolve()))
  })
  const wrong = new Promise((resolve) => db.prepare('SELECT * FROM nope', resolve))
  assert.match(String(await wrong), /no such table: nope/)
  assert.equal(await get(db, 'SELECT * FROM found WHERE id = ?'), undefined)
  const each: unknown[] = []
  const count = await new Promise((resolve) => {
    db.each(
      'SELECT * FROM found',
      (_: unknown, row: unknown) => each.push(row),
      (_: unknown, n: number) => resolve(n),
    )
  })
  assert.deepEqual([each, count], [[{ id: 1 }, { id: 2 }], 2])
  await run(db, 'VACUUM')
  const file = fileIn(t)
  await open(t, '', { file })
  await run(db, 'ATTACH ? AS other', file)
  await run(db, 'CREATE TABLE other.t AS SELECT * FROM found')
  assert.equal((await all(db, 'SELECT * FROM other.t')).length, 2)
  await run(db, 'DETACH other')
})

// G392
test('beside temporary tables, what a callback writes stays, and foreign keys can be switched off', async (t) => {
  const db = await open(t, 'CREATE TABLE t(a UNIQUE); CREATE TEMP TABLE n(a); INSERT INTO n VALUES (1), (1)')
  await run(db, 'PRAGMA foreign_keys = OFF')
  const writes: Promise<unknown>[] = []
  await new Promise((resolve) => {
    const write = (_: unknown, { a }: { a: number }) => writes.push(run(db, 'INSERT INTO t VALUES (?)', a))
    db.each('SELECT a FROM n', write, resolve)
  })
  const results = await Promise.allSettled(writes)
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
  assert.deepEqual(await all(db, 'SELECT a FROM t'), [{ a: 1 }])
})

// G392
test('without the last temporary table, reads need no lock again', async (t) => {
  const file = fileIn(t)
  const db = await open(t, 'CREATE TABLE t(a); CREATE TEMP TABLE found(id)', { file })
  const other = await open(t, '', { file })
  await run(db, 'PRAGMA wal_checkpoint(TRUNCATE)')
  await run(db, 'DROP TABLE found')
  await exec(other, 'BEGIN IMMEDIATE')
  assert.deepEqual(await all(db, 'SELECT * FROM t'), [])
  await exec(other, 'COMMIT')
})

// G392
test('each tells its end after an error, too', async (t) => {
  const db = await open(t)
  const told: unknown[] = []
  await new Promise<void>((resolve) => {
    db.each(
      'SELECT 1 AS a UNION ALL SELECT abs(-9223372036854775808)',
      (error: Error | null, row: unknown) => told.push(error?.message ?? row),
      (error: Error | null, n: number) => resolve(void told.push(error, n)),
    )
  })
  assert.deepEqual(told.slice(-3), ['SQLITE_ERROR: integer overflow', null, told.length - 3])
})

// G392
test('an interrupt ends what runs, and nothing later', async (t) => {
  const db = await open(t)
  const endless = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c'
  const error = await new Promise<Error & { code?: string }>((resolve) => {
    let interrupted = false
    db.each(endless, (error: Error | null) => {
      if (error) resolve(error)
      else if (!interrupted) db.interrupt()
      interrupted = true
    })
  })
  assert.deepEqual([error.code, error.message], ['SQLITE_INTERRUPT', 'SQLITE_INTERRUPT: interrupted'])
  assert.deepEqual(await get(db, 'SELECT 1 AS one'), { one: 1 })
})

// G392
test('calls return the database, as a chain needs it', async (t) => {
  const db = await open(t)
  const done = new Promise<void>((resolve) => {
    const last: Database = db
      .run('SELECT 1')
      .get('SELECT 1')
      .all('SELECT 1')
      .exec('SELECT 1')
      .each('SELECT 1')
    last.wait(() => resolve())
  })
  await done
})
