import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { Database, type ResqliteError } from 'resqlite'
import { ENDLESS, gate, withCode } from './support/errors'
import { openDatabase, tempDatabase, tempFile, tempFolder } from './support/temp'

const closed = withCode('RESQLITE_CLOSED')
const never = () => new Promise<never>(() => {})

// G80
test('after close every call is refused', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.close()
  assert.equal(db.open, false)
  await assert.rejects(db.select('SELECT 1'), closed)
  await assert.rejects(db.selectOne('SELECT 1'), closed)
  await assert.rejects(db.selectBytes('SELECT 1'), closed)
  await assert.rejects(db.execute('SELECT 1'), closed)
  await assert.rejects(db.executeBatch('SELECT 1', [[]]), closed)
  await assert.rejects(db.exec('SELECT 1'), closed)
  await assert.rejects(
    db.transaction(async () => {}),
    closed,
  )
  await assert.rejects(
    db.snapshot(async () => {}),
    closed,
  )
  await assert.rejects(db.diagnostics(), closed)
  assert.throws(() => db.iterate('SELECT 1'), closed)
})

// G80
test('closing twice gives the same promise', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  assert.equal(db.close(), db.close())
  await db.close()
})

// G79
test('requests in flight are finished', async (t) => {
  const path = tempFile(t)
  const db = await openDatabase(t, path)
  await db.exec('CREATE TABLE t(x)')
  const writes = Array.from({ length: 100 }, (_, i) => db.execute('INSERT INTO t VALUES (?)', [i]))
  const batch = db.executeBatch(
    'INSERT INTO t VALUES (?)',
    Array.from({ length: 30_000 }, (_, i) => [`text ${i}`]),
  )
  const reads = Array.from({ length: 100 }, (_, i) => db.selectOne('SELECT ? AS x', [i]))
  const closing = db.close()
  assert.deepEqual(
    await Promise.all(reads),
    Array.from({ length: 100 }, (_, x) => ({ x })),
  )
  await Promise.all(writes)
  assert.equal((await batch).changes, 30_000)
  await closing
  const again = await openDatabase(t, path)
  assert.deepEqual(await again.selectOne('SELECT count(*) AS n FROM t'), { n: 30_100 })
})

// G79
test('open transactions are rolled back at once', async (t) => {
  const path = tempFile(t)
  const db = await openDatabase(t, path)
  await db.exec('CREATE TABLE t(x)')
  const inside = gate()
  const hanging = db.transaction(async (tx) => {
    await tx.execute('INSERT INTO t VALUES (1)')
    inside.open()
    await never()
  })
  await inside.promise
  const waiting = db.transaction(async () => assert.fail('must not run'))
  await Promise.all([assert.rejects(hanging, closed), assert.rejects(waiting, closed), db.close()])
  const again = await openDatabase(t, path)
  assert.deepEqual(await again.select('SELECT * FROM t'), [])
})

// G79
test('a running statement of a transaction is interrupted', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const inside = gate()
  const run = db.transaction(async (tx) => {
    inside.open()
    await tx.select(ENDLESS)
  })
  await inside.promise
  await Promise.all([assert.rejects(run, closed), db.close()])
})

// G79
test('iterators and snapshots end', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const count =
    'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) SELECT x FROM c'
  const iterator = db.iterate(count)
  await iterator.next()
  const inside = gate()
  const snapshot = db.snapshot(async () => {
    inside.open()
    await never()
  })
  await inside.promise
  const closing = db.close()
  await Promise.all([assert.rejects(iterator.next(), closed), assert.rejects(snapshot, closed)])
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  await closing
})

// G79
test('closing very many live queries lets the event loop go on', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const many = 1500 // to end them takes more than one turn
  let [told, toldBefore] = [0, -1]
  const end = () => told++
  for (let i = 0; i < many; i++) db.stream('SELECT ?', [i]).subscribe(() => {}, end)
  const closing = db.close()
  setImmediate(() => {
    toldBefore = told
  })
  await closing
  assert.equal(told, many)
  assert.ok(toldBefore >= 0 && toldBefore < many, `an immediate ran after ${toldBefore} of ${many} were told`)
})

// G79
test('a subscriber is told nothing after the call of close but that the live query has ended', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  await db.exec('CREATE TABLE t(x)')
  const live = 1000
  let isClosing = false
  const after: string[] = []
  const ends: string[] = []
  const subscribe = (i: number) =>
    db.stream('SELECT x, ? AS i FROM t', [i]).subscribe(
      () => isClosing && after.push('a value'),
      ({ code }) => (code === 'RESQLITE_CLOSED' ? ends : after).push(code),
    )
  for (let i = 0; i < live; i++) subscribe(i)
  await db.selectOne('SELECT 1') // first values have come by now, others are on their way
  const write = db.exec('INSERT INTO t VALUES (1); DROP TABLE t')
  subscribe(0)
  isClosing = true
  await Promise.all([db.close(), write])
  assert.deepEqual(after, [])
  assert.equal(ends.length, live + 1)
})

test('a transaction may close the database it runs on', async (t) => {
  const db = await openDatabase(t, tempFile(t))
  const run = db.transaction(async () => {
    await db.close()
  })
  await assert.rejects(run, closed)
  await db.close()
})

// G80
test('closing one object does not affect another on the same file', async (t) => {
  const path = tempFile(t)
  const one = await openDatabase(t, path)
  const two = await openDatabase(t, path)
  await one.close()
  assert.deepEqual(await two.select('SELECT 1 AS x'), [{ x: 1 }])
})

// G79
test('the file is free after close', async (t) => {
  const folder = tempFolder(t)
  const db = await Database.open(`${folder}/x.db`)
  await db.exec('CREATE TABLE t(x)')
  await db.close()
  rmSync(folder, { recursive: true })
})

// G80
test('asyncDispose closes', async (t) => {
  const db = await tempDatabase(t)
  await db[Symbol.asyncDispose]()
  await assert.rejects(db.select('SELECT 1'), (error: ResqliteError) => error.code === 'RESQLITE_CLOSED')
})
