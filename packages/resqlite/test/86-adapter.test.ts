import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database } from 'resqlite'
import { Connection, isOn, isSoAnyway, Pool, pragmaOf, transactionStep } from 'resqlite/adapter'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE parents(id INTEGER PRIMARY KEY);
  CREATE TABLE children(p INTEGER REFERENCES parents ON DELETE CASCADE);
  INSERT INTO parents VALUES (1);
  INSERT INTO children VALUES (1);`

async function setUp(t: TestContext): Promise<{ db: Database; pool: Pool; connection: Connection }> {
  const db = await tempDatabase(t, SCHEMA)
  const pool = new Pool(db)
  return { db, pool, connection: new Connection(pool) }
}

const count = async (db: Database, table: string) =>
  (await db.selectOne<{ n: number }>(`SELECT count(*) AS n FROM ${table}`))?.n

/** Calls the methods of a connection by their SQL, as drivers do. */
async function run(connection: Connection, ...statements: string[]): Promise<void> {
  for (const sql of statements) {
    const step = transactionStep(sql)
    if (step === undefined) await connection.query(sql)
    else await step(connection)
  }
}

// G387
test('what controls transactions is recognised in every spelling', async () => {
  const expected: Record<string, readonly string[]> = {
    'begin ': [
      'BEGIN',
      'begin;',
      ' -- a\nBegin /* b */ Immediate',
      'BEGIN DEFERRED TRANSACTION',
      'BEGIN EXCLUSIVE; ;',
    ],
    'commit ': ['COMMIT', 'end', 'END TRANSACTION;', 'commit transaction t', ';\ufeffCOMMIT'],
    'rollback ': ['ROLLBACK', 'Rollback Transaction', 'ROLLBACK TRANSACTION "to"'],
    'savepoint a b': ['SAVEPOINT "a b"', 'savepoint [a b];', "SAVEPOINT'a b'"],
    'savepoint to': ['SAVEPOINT to'],
    'rollbackTo x': [
      'ROLLBACK TO x',
      'ROLLBACK TRANSACTION TO SAVEPOINT x',
      'rollback to"x"',
      'ROLLBACK TRANSACTION t TO x',
    ],
    'release x': ['RELEASE x', 'release savepoint `x`'],
  }
  for (const [call, spellings] of Object.entries(expected)) {
    for (const sql of spellings) assert.equal(await calledBy(sql), call, sql)
  }
})

/** The method of a connection that a statement calls, and the name that it passes. */
async function calledBy(sql: string): Promise<string> {
  let called = ''
  const connection = new Proxy({} as Connection, {
    get: (_, method) => (name?: string) => {
      called = `${String(method)} ${name ?? ''}`
    },
  })
  await transactionStep(sql)?.(connection)
  return called
}

// G387
test('everything else is none of these, nor is what another statement follows', () => {
  const others = [
    '',
    'SELECT 1',
    'BEGIN; SELECT 1',
    'COMMIT AND CHAIN',
    'SAVEPOINT',
    'RELEASE 1',
    'ROLLBACK TO',
  ]
  for (const sql of [
    ...others,
    'BEGINNING',
    'END IF',
    '"BEGIN"',
    'EXPLAIN COMMIT',
    '/* BEGIN',
    'BEGIN LATER',
  ]) {
    assert.equal(transactionStep(sql), undefined, sql)
  }
})

// G387
test('a transaction with savepoints, whose names differ in case, runs by its SQL', async (t) => {
  const { db, connection } = await setUp(t)
  await run(connection, 'BEGIN', 'INSERT INTO parents VALUES (2)', 'SAVEPOINT Inner')
  await run(connection, 'INSERT INTO parents VALUES (3)', 'SAVEPOINT innermost')
  assert.equal(connection.depth, 2)
  await run(connection, 'ROLLBACK TO INNER')
  assert.equal(connection.depth, 1)
  await run(connection, 'RELEASE inner', 'COMMIT')
  assert.equal(connection.depth, 0)
  assert.deepEqual(await db.select('SELECT id FROM parents', [], { arrays: true }), [[1], [2]])
})

// G387
test('a connection reads its own transaction, and others do not', async (t) => {
  const { pool, connection } = await setUp(t)
  await run(connection, 'BEGIN', 'INSERT INTO parents VALUES (2)')
  const sql = 'SELECT count(*) FROM parents'
  const other = new Connection(pool)
  assert.deepEqual((await connection.query(sql, [], { arrays: true })).rows, [[2]])
  assert.deepEqual((await other.query(sql, [], { arrays: true })).rows, [[1]])
  await connection.close()
  assert.deepEqual((await other.query(sql, [], { arrays: true })).rows, [[1]], 'closing rolls back')
})

// G387
test('a signal cancels a statement, and the connection goes on', async (t) => {
  const { connection } = await setUp(t)
  await connection.begin()
  const endless = 'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n'
  const cancel = new AbortController()
  const query = connection.query(endless, [], { signal: cancel.signal })
  cancel.abort()
  await assert.rejects(query, { code: 'RESQLITE_ABORTED' })
  await run(connection, 'INSERT INTO parents VALUES (2)', 'COMMIT')
})

for (const [what, wait] of Object.entries<(connection: Connection, signal: AbortSignal) => Promise<unknown>>({
  'a statement': (connection, signal) => connection.query('INSERT INTO parents VALUES (2)', [], { signal }),
  'a script': (connection, signal) => connection.exec('INSERT INTO parents VALUES (2)', { signal }),
  'a batch': (connection, signal) => connection.batch(['INSERT INTO parents VALUES (2)'], { signal }),
  'a script that switches foreign keys off': (connection, signal) =>
    connection.exec('PRAGMA foreign_keys = OFF; INSERT INTO parents VALUES (2)', { signal }),
})) {
  test(`while foreign keys are off, a signal ends the wait of ${what} for the write lock`, async (t) => {
    const { db, connection } = await setUp(t)
    await run(connection, 'PRAGMA foreign_keys = OFF')
    const holder = await db.begin()
    const cancel = new AbortController()
    const ended = wait(connection, cancel.signal).catch(({ code }) => code)
    await holder.query('SELECT 1') // so that it waits
    cancel.abort()
    assert.equal(await ended, 'RESQLITE_ABORTED')
    assert.ok(holder.open)
    await holder.rollback()
    assert.equal(await count(db, 'parents'), 1)
  })
}

test('one of two transactions that begin at a time on one connection is refused', async (t) => {
  const { db, connection } = await setUp(t)
  const first = connection.begin()
  await assert.rejects(connection.begin(), { code: 'RESQLITE_TRANSACTION' })
  await first
  await run(connection, 'INSERT INTO parents VALUES (2)', 'COMMIT', 'BEGIN', 'ROLLBACK')
  assert.equal(await count(db, 'parents'), 2)
})

test('a transaction may begin while the one before still commits', async (t) => {
  const { connection } = await setUp(t)
  await run(connection, 'BEGIN', 'PRAGMA defer_foreign_keys = ON', 'INSERT INTO children VALUES (9)')
  const commit = connection.commit()
  const [failed] = await Promise.allSettled([commit, connection.begin()])
  assert.equal(failed.status, 'rejected')
  await run(connection, 'INSERT INTO parents VALUES (2)', 'COMMIT')
})

test('begin takes a timeout, which foreign keys that are switched off then keep, and refuses what it does not know', async (t) => {
  const { connection } = await setUp(t)
  await assert.rejects(connection.begin({ timout: 5 } as never), { code: 'RESQLITE_OPTION' })
  await connection.begin({ timeout: 1 })
  while (connection.transaction?.open) await new Promise((resolve) => setImmediate(resolve))
  await assert.rejects(run(connection, 'SELECT 1'), { code: 'RESQLITE_TRANSACTION' })
  const cancel = new AbortController()
  await run(connection, 'ROLLBACK')
  await connection.begin({ signal: cancel.signal })
  assert.ok(await connection.beginUnchecked())
  cancel.abort()
  while (connection.transaction?.open) await new Promise((resolve) => setImmediate(resolve))
  await run(connection, 'ROLLBACK')
})

// G387
test('a COMMIT that fails rolls back, and the ROLLBACK that drivers send then does nothing', async (t) => {
  const { db, connection } = await setUp(t)
  await run(connection, 'BEGIN', 'PRAGMA defer_foreign_keys = ON', 'INSERT INTO children VALUES (9)')
  await assert.rejects(run(connection, 'COMMIT'), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
  await run(connection, 'ROLLBACK', 'BEGIN', 'ROLLBACK')
  assert.equal(await count(db, 'children'), 1)
})

// G387
test('foreign keys that a connection switches off are off for its writes, which are checked', async (t) => {
  const { connection } = await setUp(t)
  await run(connection, 'PRAGMA foreign_keys = OFF')
  const { rows } = await connection.query('PRAGMA foreign_keys', [], { arrays: true })
  assert.deepEqual(rows, [[0]])
  await assert.rejects(run(connection, 'INSERT INTO children VALUES (9)'), {
    code: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  })
})

test('while foreign keys are off, a table to which others refer is dropped only in a transaction that renews it', async (t) => {
  const { db, connection } = await setUp(t)
  await run(connection, 'PRAGMA foreign_keys = OFF')
  await assert.rejects(run(connection, 'DROP TABLE parents'), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
  const renewed = ['DROP TABLE parents', 'CREATE TABLE parents(id INTEGER PRIMARY KEY, name TEXT)']
  await run(connection, 'BEGIN', ...renewed, 'INSERT INTO parents(id) VALUES (1)', 'COMMIT')
  assert.equal(await count(db, 'children'), 1, 'dropping deletes nothing by cascades')
})

// G387
test('a dump that switches foreign keys off is one transaction', async (t) => {
  const { db, connection } = await setUp(t)
  await connection.exec(`
    PRAGMA foreign_keys=OFF;
    BEGIN TRANSACTION;
    CREATE TABLE noted(a);
    CREATE TRIGGER note AFTER INSERT ON noted BEGIN INSERT INTO parents VALUES (new.a); END;
    INSERT INTO children VALUES (7);
    INSERT INTO noted VALUES (7);
    COMMIT;`)
  assert.deepEqual([await count(db, 'children'), await count(db, 'parents')], [2, 2])
})

// G387
test('a script that switches foreign keys off has them off, all or nothing, and leaves the setting', async (t) => {
  const { db, connection } = await setUp(t)
  await connection.exec(`
    PRAGMA foreign_keys = OFF;
    CREATE TABLE renewed(id INTEGER PRIMARY KEY);
    INSERT INTO renewed SELECT id FROM parents;
    DROP TABLE parents;
    ALTER TABLE renewed RENAME TO parents;`)
  assert.equal(await count(db, 'children'), 1)
  assert.ok(connection.foreignKeys)
  const orphans =
    'PRAGMA foreign_keys = OFF; INSERT INTO parents VALUES (2); DELETE FROM parents WHERE id = 1'
  await assert.rejects(connection.exec(orphans), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
  assert.equal(await count(db, 'parents'), 1)
})

// G388
test('a PRAGMA is read in every spelling: its name, and what it sets or is asked about', () => {
  const expected = {
    'PRAGMA busy_timeout': ['busy_timeout', undefined],
    ' ;pragma/**/MAIN."Busy_Timeout" = -0x10;': ['busy_timeout', '-0x10'],
    "PRAGMA encoding('UTF-8') -- so": ['encoding', 'utf-8'],
    'PRAGMA table_info([My Table])': ['table_info', 'my table'],
  }
  for (const [sql, [name, value]] of Object.entries(expected)) {
    assert.deepEqual(pragmaOf(sql), { name, value }, sql)
  }
  for (const sql of ['PRAGMA', 'PRAGMA x =', 'PRAGMA x = 1; SELECT 1', 'PRAGMA other.x', 'SELECT 1', '']) {
    assert.equal(pragmaOf(sql), undefined, sql)
  }
})

// G388
test('a PRAGMA for what is so anyway is known, and one that would change something is not', () => {
  const known = (sql: string, durable = false) => isSoAnyway(pragmaOf(sql) as never, durable)
  for (const sql of ['cache_size = -8000', "encoding = 'UTF-8'", 'synchronous(NORMAL)', 'query_only = off']) {
    assert.ok(known(`PRAGMA ${sql}`), sql)
  }
  for (const sql of ['cache_size', "encoding = 'UTF-16'", 'synchronous = FULL', 'user_version = 7']) {
    assert.ok(!known(`PRAGMA ${sql}`), sql)
  }
  assert.ok(known('PRAGMA synchronous = FULL', true))
})

// G388
test('a switch is on by the words and numbers that are so in SQLite', () => {
  assert.deepEqual(['on', 'yes', 'true', '1', '0x2'].map(isOn), Array(5).fill(true))
  assert.deepEqual(['off', 'full', '0', '-1', '99999999999', ''].map(isOn), Array(6).fill(false))
})
