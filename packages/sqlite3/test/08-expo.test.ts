import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabaseAsync } from '@resqlite/sqlite3/expo'

// G396
test('the API of expo-sqlite runs statements, and tells rows and changes', async () => {
  const db = await openDatabaseAsync(':memory:')
  await db.execAsync('CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE)')
  assert.deepEqual(await db.runAsync('INSERT INTO t(a) VALUES (?)', 'x'), { changes: 1, lastInsertRowId: 1 })
  assert.deepEqual(await db.getAllAsync('SELECT a FROM t WHERE id = $id', { $id: 1 }), [{ a: 'x' }])
  assert.deepEqual(await db.getFirstAsync('SELECT a FROM t'), { a: 'x' })
  assert.equal(await db.getFirstAsync('SELECT a FROM t WHERE a = 1'), null)
  const statement = await db.prepareAsync(
    'INSERT INTO t(a) VALUES (?) ON CONFLICT DO UPDATE SET a = a RETURNING a',
  )
  const result = await statement.executeAsync(['x'])
  assert.deepEqual([await result.getAllAsync(), result.changes, result.lastInsertRowId], [[{ a: 'x' }], 1, 1])
  await statement.finalizeAsync()
  await assert.rejects(db.prepareAsync('SELECT * FROM nope'), { code: 'SQLITE_ERROR' })
  await assert.rejects(db.runAsync('INSERT INTO t(a) VALUES (?)', ['x']), { code: 'SQLITE_CONSTRAINT' })
  await db.closeAsync()
})

// G396
test('transactions run by its statements', async () => {
  const db = await openDatabaseAsync(':memory:')
  await db.execAsync('CREATE TABLE t(a)')
  await db.runAsync('BEGIN TRANSACTION')
  await db.runAsync('INSERT INTO t VALUES (1)')
  await db.runAsync('ROLLBACK')
  assert.deepEqual(await db.getAllAsync('SELECT * FROM t'), [])
  await db.closeAsync()
})
