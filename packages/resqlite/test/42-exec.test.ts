import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

// G43
test('exec runs all statements of a script', async (t) => {
  const db = await tempDatabase(t)
  const result = await db.exec("CREATE TABLE t(x); -- a comment\n INSERT INTO t VALUES (';'), ('b');;\n")
  assert.equal(result, undefined)
  assert.deepEqual(await db.select('SELECT x FROM t', [], { arrays: true }), [[';'], ['b']])
})

test('an empty script is fine', async (t) => {
  const db = await tempDatabase(t)
  await db.exec('')
  await db.exec(' -- nothing')
})

// G43
test('a script that fails is undone', async (t) => {
  const db = await tempDatabase(t)
  await assert.rejects(
    db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1); SELECT nope'),
    withCode('SQLITE_ERROR', 'nope'),
  )
  assert.deepEqual(await db.select("SELECT name FROM sqlite_schema WHERE name = 't'"), [])
})

for (const script of ['INSERT INTO t VALUES (?)', 'INSERT INTO t VALUES (1); INSERT INTO t VALUES (:x)']) {
  // G43
  test(`a script takes no parameters, and writes no NULL in their place: ${script}`, async (t) => {
    const db = await tempDatabase(t, 'CREATE TABLE t(x)')
    await assert.rejects(db.exec(script), withCode('RESQLITE_PARAMETER', 'execute'))
    await assert.rejects(
      db.transaction((tx) => tx.exec(script)),
      withCode('RESQLITE_PARAMETER', 'execute'),
    )
    assert.deepEqual(await db.select('SELECT * FROM t'), [])
  })
}

// G43
test('exec refuses a second argument', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  // @ts-expect-error: this is what execute takes
  await assert.rejects(db.exec('INSERT INTO t VALUES (1)', [1]), withCode('RESQLITE_OPTION', 'execute'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('a script of a trigger with statements inside', async (t) => {
  const db = await tempDatabase(t)
  await db.exec(`
    CREATE TABLE t(x);
    CREATE TABLE log(x);
    CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.x); INSERT INTO log VALUES (-new.x); END;
    INSERT INTO t VALUES (5);
  `)
  assert.deepEqual(await db.select('SELECT x FROM log', [], { arrays: true }), [[5], [-5]])
})

test('a transaction that a script leaves open is not left open', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  await db.exec('BEGIN; INSERT INTO t VALUES (1)').catch(() => {})
  await db.execute('INSERT INTO t VALUES (2)')
  const rows = await db.select<{ x: number }>('SELECT x FROM t')
  assert.ok(rows.some((row) => row.x === 2))
})

test('a signal interrupts a script, and undoes it', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const controller = new AbortController()
  const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'
  const running = db.exec(`INSERT INTO t VALUES (1); ${endless}`, { signal: controller.signal })
  controller.abort()
  await assert.rejects(running, withCode('RESQLITE_ABORTED'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('unknown options of exec are refused by name', async (t) => {
  const db = await tempDatabase(t)
  await assert.rejects(db.exec('SELECT 1', { signals: 1 } as never), /exec: unknown option "signals"/)
})
