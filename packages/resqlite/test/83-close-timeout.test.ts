import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ENDLESS, gate, withCode } from './support/errors'
import { openDatabase, tempFile, tempFolder } from './support/temp'

const closed = withCode('RESQLITE_CLOSED')
const ENDLESS_WRITE = `INSERT INTO t ${ENDLESS}`

// G242
test('after its timeout, close interrupts reads that run and drops those that wait', async (t) => {
  const db = await openDatabase(t, tempFile(t), { readers: 1 })
  const reads = [1, 2, 3].map(() => assert.rejects(db.select(ENDLESS), closed))
  await db.close({ timeout: 10 })
  await Promise.all(reads)
})

// G242
test('after its timeout, close undoes the write that runs and drops those that wait', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x)')
  const writes = [
    db.execute(ENDLESS_WRITE),
    db.execute('INSERT INTO t VALUES (1)'),
    db.exec('INSERT INTO t VALUES (2)'),
    db.executeBatch('INSERT INTO t VALUES (?)', [[3]]),
  ].map((write) => assert.rejects(write, closed))
  await db.close({ timeout: 10 })
  await Promise.all(writes)
  const again = await openDatabase(t, db.path)
  assert.deepEqual(await again.select('SELECT x FROM t'), [])
})

// G242
test('whatever the timeout hits: what is acknowledged is there, and what is refused is not', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x INTEGER PRIMARY KEY)')
  const writes = Array.from({ length: 2000 }, (_, i) => db.execute('INSERT INTO t VALUES (?)', [i]))
  const outcomes = Promise.allSettled(writes)
  await db.close({ timeout: 1 })
  const acknowledged = (await outcomes).flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
  const again = await openDatabase(t, db.path)
  const rows = await again.select('SELECT x FROM t ORDER BY x', [], { arrays: true })
  assert.deepEqual(rows.flat(), acknowledged)
})

test('calls that end before the timeout are finished', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x)')
  const write = db.execute('INSERT INTO t VALUES (1)')
  const read = db.select('SELECT 1 AS x')
  await db.close({ timeout: 60_000 })
  assert.equal((await write).changes, 1)
  assert.deepEqual(await read, [{ x: 1 }])
})

test('a later call of close adds a timeout to the first', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const read = assert.rejects(db.select(ENDLESS), closed)
  const first = db.close()
  assert.equal(db.close({ timeout: 0 }), first)
  await Promise.all([first, read])
})

// G242
test('close with a timeout drops only its own calls where the engine is shared', async (t) => {
  const path = tempFile(t)
  const [one, two] = [await openDatabase(t, path), await openDatabase(t, path)]
  await one.exec('CREATE TABLE t(x)')
  const [inside, leave] = [gate(), gate()]
  const transaction = two.transaction(async (tx) => {
    await tx.execute('INSERT INTO t VALUES (1)')
    inside.open()
    await leave.promise
  })
  await inside.promise
  const dropped = assert.rejects(one.execute('INSERT INTO t VALUES (2)'), closed)
  const kept = two.execute('INSERT INTO t VALUES (3)')
  await one.close({ timeout: 10 })
  await dropped
  leave.open()
  await Promise.all([transaction, kept])
  assert.deepEqual(await two.select('SELECT x FROM t ORDER BY x'), [{ x: 1 }, { x: 3 }])
})

// G242
test('close with a timeout ends a backup, of which nothing is left', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (zeroblob(100000000))')
  const folder = tempFolder(t)
  const backup = assert.rejects(db.backup(join(folder, 'copy.db')), closed)
  await db.close({ timeout: 0 })
  await backup
  assert.deepEqual(readdirSync(folder), [])
})

// G242
test('a live query that runs does not hold close up beyond its timeout', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const failed = gate<Error>()
  db.stream(ENDLESS).subscribe(() => {}, failed.open)
  await db.close({ timeout: 10 })
  closed(await failed.promise)
})

test('close refuses options that it does not know', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await assert.rejects(db.close({ timeout: -1 }), withCode('RESQLITE_OPTION', 'timeout'))
  await assert.rejects(db.close({ force: true } as object), withCode('RESQLITE_OPTION', '"force"'))
  assert.equal(db.open, true)
})

for (const before of [1, 20_000]) {
  // G242
  test(`after its timeout, close undoes a batch whose next set never comes, after ${before} sets`, async (t) => {
    const db = await openDatabase(t, tempFile(t))
    await db.exec('CREATE TABLE t(x)')
    const stalled = gate()
    async function* sets() {
      for (let i = 0; i < before; i++) yield [i]
      stalled.open()
      await new Promise(() => {})
    }
    const batch = assert.rejects(db.executeBatch('INSERT INTO t VALUES (?)', sets()), closed)
    await stalled.promise
    await db.close({ timeout: 1 })
    await batch
    const again = await openDatabase(t, db.path)
    assert.deepEqual(await again.select('SELECT x FROM t'), [])
  })
}
