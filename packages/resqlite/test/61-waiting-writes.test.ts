import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbortError, type Database, type TransactionHolder } from 'resqlite'
import { gate } from './support/errors'
import { tempDatabase } from './support/temp'

type Waiting = (db: Database, signal: AbortSignal) => Promise<unknown>

const waiting: Record<string, Waiting> = {
  execute: (db, signal) => db.execute('INSERT INTO t VALUES (1)', [], { signal }),
  batch: (db, signal) => db.batch(['INSERT INTO t VALUES (1)'], { signal }),
  executeBatch: (db, signal) => db.executeBatch('INSERT INTO t VALUES (?)', [[1]], { signal }),
  exec: (db, signal) => db.exec('INSERT INTO t VALUES (1)', { signal }),
  transaction: (db, signal) => db.transaction(() => assert.fail('it never begins'), { signal }),
  begin: (db, signal) => db.begin({ signal }),
}

/** The message of the error with which a write that waits is aborted. */
async function messageOf(db: Database, wait: Waiting): Promise<string> {
  const controller = new AbortController()
  const waits = wait(db, controller.signal)
  controller.abort('enough')
  const error = await waits.then(
    () => assert.fail('it waits'),
    (error) => error,
  )
  assert.ok(error instanceof AbortError)
  assert.equal(error.cause, 'enough')
  return error.message
}

for (const [method, wait] of Object.entries(waiting)) {
  test(`${method} that is aborted while it waits names the transaction that it waited for`, async (t) => {
    const db = await tempDatabase(t, 'CREATE TABLE t(x)')
    const holder = await db.begin()
    await holder.execute("INSERT INTO t VALUES ('held')")
    assert.match(
      await messageOf(db, wait),
      /^The operation was aborted while it waited for a transaction without a body that began \d+\.\d s ago( and waits for its caller)?; statement: INSERT INTO t VALUES \('held'\)$/,
    )
    await holder.rollback()
    assert.deepEqual(await db.select('SELECT * FROM t'), [])
  })
}

// G221
test('the beginning of a long statement names a transaction', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const holder = await db.begin()
  await holder.select(`SELECT '${'ä'.repeat(1000)}'`)
  const message = await messageOf(db, waiting.execute as Waiting)
  assert.match(message, /; statement: SELECT 'ä{96}$/)
  await holder.rollback()
})

// G221
test('a batch whose sets are still to come is named', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const [arrives, goOn] = [gate<void>(), gate<void>()]
  const batch = db.executeBatch(
    'INSERT INTO t VALUES (?)',
    (async function* () {
      for (let i = 0; i < 3; i++) yield ['x'.repeat(70_000)]
      arrives.open()
      await goOn.promise
    })(),
  )
  await arrives.promise
  let holder: TransactionHolder | null = null
  while (holder?.idle !== true) holder = (await db.diagnostics()).writer.transaction
  const { since, ...rest } = holder
  assert.deepEqual(rest, { kind: 'executeBatch', sql: 'INSERT INTO t VALUES (?)', idle: true })
  assert.ok(Math.abs(Date.now() - since) < 60_000)
  assert.match(
    await messageOf(db, waiting.execute as Waiting),
    /for a batch that began .* ago and waits for its caller; statement: INSERT INTO t VALUES \(\?\)$/,
  )
  goOn.open()
  await batch
  assert.equal((await db.diagnostics()).writer.transaction, null)
})

test('a write that waits for no transaction names none', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const signal = AbortSignal.abort('before')
  await assert.rejects(db.execute('INSERT INTO t VALUES (1)', [], { signal }), {
    message: 'The operation was aborted',
  })
})
