import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Database } from 'resqlite'
import { type Client, type Config, createClient, LibsqlBatchError, LibsqlError } from 'resqlite/libsql'
import { tempFile, tempFolder } from './support/temp'

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT UNIQUE, photo BLOB, age REAL);
  INSERT INTO users(name, photo, age) VALUES ('Ada', x'0102', 36);`

async function setUp(t: TestContext, config: Partial<Config> = {}): Promise<Client> {
  const client = createClient({ url: `file:${tempFile(t)}`, ...config })
  t.after(() => client.close())
  await client.executeMultiple(SCHEMA)
  return client
}

const names = async (client: Pick<Client, 'execute'>) =>
  (await client.execute('SELECT name FROM users ORDER BY id')).rows.map((row) => row[0])

/** What is asked of an error, besides its class. */
const error = (code: string, extendedCode?: string, rawCode?: number) => (thrown: unknown) => {
  assert.ok(thrown instanceof LibsqlError)
  assert.equal(thrown.code, code)
  if (extendedCode !== undefined) assert.equal(thrown.extendedCode, extendedCode)
  if (rawCode !== undefined) assert.equal(thrown.rawCode, rawCode)
  assert.ok(thrown.message.startsWith(`${code}: `))
  return true
}

// G390
test('a row is an object with the names, and has its values by position, too', async (t) => {
  const client = await setUp(t)
  const { rows, columns, columnTypes } = await client.execute("SELECT *, 1 AS id, name || '!' FROM users")
  const [row] = rows
  const photo = new Uint8Array([1, 2]).buffer
  assert.deepEqual(columns, ['id', 'name', 'photo', 'age', 'id', "name || '!'"])
  assert.deepEqual(columnTypes, ['INTEGER', 'TEXT', 'BLOB', 'REAL', '', ''])
  assert.deepEqual({ ...row }, { id: 1, name: 'Ada', photo, age: 36, "name || '!'": 'Ada!' })
  assert.deepEqual(Array.from(row as ArrayLike<unknown>), [1, 'Ada', photo, 36, 1, 'Ada!'])
})

// G390
test('a statement that writes says how many rows it changed, and the rowid that was inserted last', async (t) => {
  const client = await setUp(t)
  const grace = await client.execute({ sql: 'INSERT INTO users(name) VALUES (?)', args: ['Grace'] })
  assert.deepEqual([grace.rowsAffected, grace.lastInsertRowid], [1, 2n])
  const older = await client.execute('UPDATE users SET age = 40')
  assert.deepEqual([older.rowsAffected, older.lastInsertRowid], [2, 2n])
  const read = await client.execute('SELECT 1')
  assert.deepEqual([read.rowsAffected, read.lastInsertRowid], [0, undefined])
  const returned = await client.execute("INSERT INTO users(name) VALUES ('Edsger') RETURNING id")
  assert.deepEqual([returned.rowsAffected, returned.lastInsertRowid, returned.rows[0]?.id], [1, 3n, 3])
})

// G390
test('last_insert_rowid() and changes() are those of this client', async (t) => {
  const client = await setUp(t)
  const facts = async () => {
    const { rows, columns } = await client.execute('SELECT last_insert_rowid() AS id, changes()')
    return [columns, ...Array.from(rows[0] as ArrayLike<unknown>)]
  }
  const columns = ['id', 'changes()']
  assert.deepEqual(await facts(), [columns, 0, 0])
  await client.execute("INSERT INTO users(id, name) VALUES (7, 'Grace'), (8, 'Edsger')")
  assert.deepEqual(await facts(), [columns, 8, 2])
  await client.batch(["UPDATE users SET age = 1 WHERE name = 'Tim'"])
  assert.deepEqual(await facts(), [columns, 8, 0])
  const tx = await client.transaction()
  await tx.execute("INSERT INTO users(id, name) VALUES (20, 'Tim')")
  assert.equal((await tx.execute('SELECT last_insert_rowid()')).rows[0]?.[0], 20)
  await tx.commit()
  await client.execute('UPDATE users SET age = last_insert_rowid() WHERE id = 20')
  assert.equal((await client.execute('SELECT age FROM users WHERE id = 20')).rows[0]?.[0], 20)
  const inserted = client.execute("INSERT INTO users(id, name) VALUES (30, 'Ole')")
  const asked = client.execute('UPDATE users SET age = last_insert_rowid() WHERE id = 30')
  await Promise.all([inserted, asked])
  assert.equal((await client.execute('SELECT age FROM users WHERE id = 30')).rows[0]?.[0], 30)
})

// G390
test('arguments come by position or by name, and are of the types of JavaScript', async (t) => {
  const client = await setUp(t)
  const args = [true, new Date(5), new Uint8Array([7]).buffer, 5n, null]
  const { rows } = await client.execute('SELECT ?, ?, hex(?), ?, ?', args)
  assert.deepEqual(Array.from(rows[0] as ArrayLike<unknown>), [1, 5, '07', 5, null])
  const named = await client.execute({ sql: 'SELECT :a, $b, @c', args: { a: 1, $b: 2, '@c': 3 } })
  assert.deepEqual(Array.from(named.rows[0] as ArrayLike<unknown>), [1, 2, 3])
  const numbered = await client.execute('SELECT ?1, ?2', { 2: 'b', 1: 'a' })
  assert.deepEqual(Array.from(numbered.rows[0] as ArrayLike<unknown>), ['a', 'b'])
  await assert.rejects(client.execute('SELECT ?', [Number.NaN]), RangeError)
  await assert.rejects(client.execute('SELECT ?', [undefined as never]), TypeError)
})

// G390
test('intMode says what becomes of INTEGERs', async (t) => {
  const sql = 'SELECT 9007199254740993 AS big, 1 AS one, 1.0 AS real'
  await assert.rejects((await setUp(t)).execute(sql), RangeError)
  const bigint = await (await setUp(t, { intMode: 'bigint' })).execute(sql)
  assert.deepEqual({ ...bigint.rows[0] }, { big: 9007199254740993n, one: 1n, real: 1 })
  const string = await (await setUp(t, { intMode: 'string' })).execute(sql)
  assert.deepEqual({ ...string.rows[0] }, { big: '9007199254740993', one: '1', real: 1 })
})

test('a result becomes JSON as that of @libsql/client', async (t) => {
  const client = await setUp(t, { intMode: 'bigint' })
  assert.deepEqual(JSON.parse(JSON.stringify(await client.execute('SELECT id, photo FROM users'))), {
    columns: ['id', 'photo'],
    columnTypes: ['INTEGER', 'BLOB'],
    rows: [['1', 'AQI=']],
    rowsAffected: 0,
    lastInsertRowid: null,
  })
})

// G390
test('errors have the codes of @libsql/client', async (t) => {
  const client = await setUp(t)
  const unique = error('SQLITE_CONSTRAINT', 'SQLITE_CONSTRAINT_UNIQUE', 2067)
  await assert.rejects(client.execute("INSERT INTO users(name) VALUES ('Ada')"), unique)
  await assert.rejects(client.execute('SELEC 1'), error('SQLITE_ERROR', 'SQLITE_ERROR', 1))
  await assert.rejects(client.execute('SELECT 1; SELECT 2'), error('SQLITE_ERROR'))
  await assert.rejects(client.execute('BEGIN'), error('SQLITE_ERROR'))
  await assert.rejects(
    createClient({ url: 'file:/nowhere/x.db' }).execute('SELECT 1'),
    error('SQLITE_CANTOPEN'),
  )
})

test('with errorCodes, codes are the extended ones, as in older releases', async (t) => {
  const client = await setUp(t, { errorCodes: 'extended' })
  const unique = error('SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_UNIQUE', 2067)
  await assert.rejects(client.execute("INSERT INTO users(name) VALUES ('Ada')"), unique)
})

// G390
test('a batch is all or nothing, and says which statement failed', async (t) => {
  const client = await setUp(t)
  const [, , counted] = await client.batch(
    [
      "INSERT INTO users(name) VALUES ('Grace')",
      ['SELECT ?', [1]],
      { sql: 'SELECT count(*) AS n FROM users' },
    ],
    'write',
  )
  assert.equal(counted?.rows[0]?.n, 2)
  const failing = client.batch([
    "INSERT INTO users(name) VALUES ('Edsger')",
    "INSERT INTO users(name) VALUES ('Ada')",
  ])
  await assert.rejects(failing, (thrown) => thrown instanceof LibsqlBatchError && thrown.statementIndex === 1)
  assert.deepEqual(await names(client), ['Ada', 'Grace'])
  await assert.rejects(client.batch(['SELECT 1'], 'fast' as never), RangeError)
})

// G390
test('a batch with a value that cannot be converted has written nothing', async (t) => {
  const client = await setUp(t)
  const statements = ["INSERT INTO users(name) VALUES ('Lin')", 'SELECT 9007199254740993']
  await assert.rejects(client.batch(statements), RangeError)
  await assert.rejects(client.migrate(statements), RangeError)
  assert.equal((await names(client)).includes('Lin'), false)
})

// G390
test('a transaction is seen by others after its commit only, and its errors do not end it', async (t) => {
  const client = await setUp(t)
  const tx = await client.transaction('write')
  await tx.execute("INSERT INTO users(name) VALUES ('Grace')")
  await assert.rejects(tx.execute('SELECT * FROM nowhere'), error('SQLITE_ERROR'))
  assert.deepEqual([tx.closed, await names(tx), await names(client)], [false, ['Ada', 'Grace'], ['Ada']])
  await tx.commit()
  assert.deepEqual([tx.closed, await names(client)], [true, ['Ada', 'Grace']])
  await assert.rejects(tx.execute('DELETE FROM users'), error('TRANSACTION_CLOSED'))
  await assert.rejects(tx.commit(), error('TRANSACTION_CLOSED'))
  await tx.rollback()
  tx.close()
})

// G390
test('savepoints are SQL in a transaction, and closing it rolls back', async (t) => {
  const client = await setUp(t)
  const tx = await client.transaction()
  for (const sql of ['SAVEPOINT s', 'DELETE FROM users', 'ROLLBACK TO s', 'RELEASE s']) await tx.execute(sql)
  assert.deepEqual(await names(tx), ['Ada'])
  await tx.executeMultiple(
    "INSERT INTO users(name) VALUES ('Grace'); INSERT INTO users(name) VALUES ('Edsger');",
  )
  tx.close()
  assert.ok(tx.closed)
  assert.deepEqual(await names(client), ['Ada'])
})

test('a batch in a transaction keeps what came before the statement that failed', async (t) => {
  const client = await setUp(t)
  const tx = await client.transaction()
  const batch = tx.batch(["INSERT INTO users(name) VALUES ('Grace')", 'nonsense'])
  await assert.rejects(batch, (thrown) => thrown instanceof LibsqlBatchError && thrown.statementIndex === 1)
  await tx.commit()
  assert.deepEqual(await names(client), ['Ada', 'Grace'])
})

// G390
test('a transaction for reading keeps its state beside writes, and refuses to write', async (t) => {
  const client = await setUp(t)
  const tx = await client.transaction('read')
  await client.execute("INSERT INTO users(name) VALUES ('Grace')")
  assert.deepEqual(await names(tx), ['Ada'])
  await assert.rejects(tx.execute('DELETE FROM users'), error('SQLITE_READONLY'))
  await tx.commit()
  await assert.rejects(tx.execute('SELECT 1'), error('TRANSACTION_CLOSED'))
})

// G390
test('a transaction that takes too long is rolled back, and the next call says why', async (t) => {
  const client = await setUp(t, { transactionTimeout: 1 })
  const tx = await client.transaction()
  while (!tx.closed) await new Promise((resolve) => setImmediate(resolve))
  await assert.rejects(tx.execute('SELECT 1'), error('TRANSACTION_CLOSED'))
  assert.deepEqual(await names(client), ['Ada'])
})

// G390
test('a transaction that SQLite rolls back, or that ends with its client, is closed', async (t) => {
  const client = await setUp(t)
  const tx = await client.transaction()
  await assert.rejects(
    tx.execute("INSERT OR ROLLBACK INTO users(name) VALUES ('Ada')"),
    error('SQLITE_CONSTRAINT'),
  )
  assert.ok(tx.closed)
  await assert.rejects(tx.execute('SELECT 1'), error('TRANSACTION_CLOSED'))
  const open = [await client.transaction('write'), await client.transaction('read')]
  client.close()
  while (open.some(({ closed }) => !closed)) await new Promise((resolve) => setImmediate(resolve))
})

// G390
test('a transaction that is left open does not keep the process alive', () => {
  for (const mode of ['read', 'write']) {
    const script = `const { createClient } = require('resqlite/libsql')
      createClient({ url: ':memory:', transactionTimeout: 2 ** 31 - 1 }).transaction('${mode}')`
    const { status } = spawnSync(process.execPath, ['-e', script], { cwd: __dirname, timeout: 30_000 })
    assert.equal(status, 0, mode)
  }
})

// G390
test('migrate rebuilds a table to which others refer, and checks foreign keys', async (t) => {
  const client = await setUp(t)
  await client.executeMultiple(`
    CREATE TABLE pets(owner INTEGER REFERENCES users ON DELETE CASCADE); INSERT INTO pets VALUES (1);`)
  const results = await client.migrate([
    'PRAGMA foreign_keys=OFF',
    'CREATE TABLE renewed(id INTEGER PRIMARY KEY, name TEXT)',
    'INSERT INTO renewed SELECT id, name FROM users',
    'DROP TABLE users',
    'ALTER TABLE renewed RENAME TO users',
    'PRAGMA foreign_keys=ON',
  ])
  assert.deepEqual(results.map(({ rowsAffected }) => rowsAffected).slice(0, 3), [0, 0, 1])
  assert.equal(results.length, 6)
  assert.equal((await client.execute('SELECT count(*) AS n FROM pets')).rows[0]?.n, 1)
  await assert.rejects(client.migrate(['DELETE FROM users']), error('SQLITE_CONSTRAINT'))
})

// G390
test('a read sees what was written before it in the same turn, without an await', async (t) => {
  const client = await setUp(t)
  for (let i = 0; i < 20; i++) {
    const insert = client.execute('INSERT INTO users(name) VALUES (?)', [`n${i}`])
    assert.equal((await client.execute('SELECT count(*) AS n FROM users')).rows[0]?.n, i + 2)
    await insert
  }
})

for (const read of [
  'WITH seen AS (SELECT name FROM users) SELECT count(*) AS n FROM seen',
  '-- how many\nSELECT count(*) AS n FROM users',
  '/* all */ VALUES ((SELECT count(*) FROM users))',
]) {
  test(`a read of any spelling sees what was written before it in the same turn: ${read}`, async (t) => {
    const client = await setUp(t)
    for (let i = 0; i < 30; i++) {
      const batch = client.batch([{ sql: 'INSERT INTO users(name) VALUES (?)', args: [`n${i}`] }])
      assert.equal((await client.execute(read)).rows[0]?.[0], i + 2)
      await batch
    }
  })
}

test('what a turn calls after a write that fails at once waits for the writes before it, too', async (t) => {
  const client = await setUp(t)
  for (let i = 0; i < 30; i++) {
    const insert = client.execute('INSERT INTO users(name) VALUES (?)', [`n${i}`])
    const failing = client.execute('INSERT INTO users(name) VALUES (?)', [Symbol('no value') as never])
    const counted = client.execute('SELECT count(*) AS n FROM users')
    await assert.rejects(failing)
    assert.equal((await counted).rows[0]?.n, i + 2)
    await insert
  }
})

test('statements that may write or only read keep their place among the writes of a turn', async (t) => {
  const client = await setUp(t)
  const add = "WITH more(name) AS (VALUES ('Grace')) INSERT INTO users(name) SELECT name FROM more"
  const rename = "UPDATE users SET name = 'Tim' WHERE name = 'Grace'"
  const sql = ['ALTER TABLE users ADD COLUMN b', 'PRAGMA table_info(users)', add, rename]
  const [, info] = await Promise.all(sql.map((statement) => client.execute(statement)))
  assert.equal(info?.rows.length, 5)
  assert.deepEqual(await names(client), ['Ada', 'Tim'])
})

// G390
test('PRAGMAs by which programs set SQLite up are taken where it is so anyway', async (t) => {
  const client = await setUp(t)
  const answer = async (pragma: string) =>
    (await client.execute(`PRAGMA ${pragma}`)).rows.map((row) => ({ ...row }))
  assert.deepEqual(await answer('journal_mode = WAL;'), [{ journal_mode: 'wal' }])
  assert.deepEqual(await answer('busy_timeout(5000)'), [{ timeout: 5000 }])
  for (const pragma of ['synchronous = NORMAL', 'main.cache_size = -8000', "encoding = 'UTF-8'"]) {
    assert.deepEqual(await answer(pragma), [])
  }
  for (const pragma of ['journal_mode = DELETE', 'synchronous = FULL', 'locking_mode = EXCLUSIVE']) {
    await assert.rejects(answer(pragma), error('SQLITE_ERROR'))
  }
  const durable = await setUp(t, { durability: 'full' })
  assert.deepEqual((await durable.execute('PRAGMA synchronous = FULL')).rows, [])
})

// G390
test('what needs a server says so', async (t) => {
  for (const scheme of ['libsql', 'https', 'wss']) {
    assert.throws(() => createClient({ url: `${scheme}://db.example` }), error('URL_SCHEME_NOT_SUPPORTED'))
  }
  assert.throws(
    () => createClient({ url: 'file:a.db', syncUrl: 'libsql://db.example' }),
    error('SYNC_NOT_SUPPORTED'),
  )
  assert.throws(() => createClient({ url: 'app.db' }), error('URL_INVALID'))
  await assert.rejects((await setUp(t)).sync(), error('SYNC_NOT_SUPPORTED'))
})

test('a closed client refuses calls, and can be opened again', async (t) => {
  const client = await setUp(t)
  assert.deepEqual([client.closed, client.protocol], [false, 'file'])
  client.close()
  assert.ok(client.closed)
  await assert.rejects(client.execute('SELECT 1'), error('CLIENT_CLOSED'))
  client.reconnect()
  assert.deepEqual(await names(client), ['Ada'])
})

// G390
test('a client opens a file when another one has closed it, also if it was deleted meanwhile', async (t) => {
  const file = tempFile(t)
  if (process.platform === 'win32') return // where an open file cannot be deleted
  for (const scheme of ['file:', 'file://', 'file:']) {
    const client = createClient({ url: scheme + file })
    await client.execute('CREATE TABLE t(a)')
    client.close()
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  }
  const last = createClient({ url: `file:${file}` })
  await last.execute('CREATE TABLE t(a)')
  await last.database?.close()
})

// G390
test('a file that cannot be opened can be opened by the next call', async (t) => {
  const folder = join(tempFolder(t), 'later')
  const client = createClient({ url: `file:${join(folder, 'test.db')}` })
  t.after(() => client.close())
  await assert.rejects(client.execute('SELECT 1'), error('SQLITE_CANTOPEN'))
  mkdirSync(folder)
  assert.equal((await client.execute('SELECT 1')).rows.length, 1)
})

test('a database in memory is the client’s own, unless its URL says that it is shared', async (t) => {
  const open = (url: string) => {
    const client = createClient({ url })
    t.after(() => client.close())
    return client
  }
  await open(':memory:').execute('CREATE TABLE t(a)')
  await assert.rejects(open(':memory:').execute('SELECT * FROM t'), error('SQLITE_ERROR'))
  const shared = 'file::memory:?cache=shared'
  await open(shared).execute('CREATE TABLE t(a)')
  assert.deepEqual((await open(shared).execute('SELECT * FROM t')).rows, [])
  await assert.rejects(
    createClient({ url: shared, intMode: 'bigint' }).execute('SELECT 1'),
    error('URL_INVALID'),
  )
})

test('a shared database in memory that could not be opened can be opened by the next client', async (t) => {
  const url = 'file::memory:?cache=shared'
  await assert.rejects(createClient({ url, timeout: -1 }).execute('SELECT 1'), { code: 'RESQLITE_OPTION' })
  const client = createClient({ url })
  t.after(() => client.close())
  assert.equal((await client.execute('SELECT 1')).rows.length, 1)
})

test('a client of an open database shares it, and closes it', async (t) => {
  const database = await Database.open(tempFile(t))
  const client = createClient({ database })
  assert.equal(client.database, database)
  await client.executeMultiple(SCHEMA)
  assert.equal((await database.select('SELECT * FROM users')).length, 1)
  assert.throws(() => client.reconnect(), error('CLIENT_CLOSED'))
  client.close()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(database.open, false)
})
