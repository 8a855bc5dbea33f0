import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbortError, type Database, ResqliteError, SqliteError, TransactionError } from 'resqlite'
import { tempDatabase } from './support/temp'

test('all error classes extend ResqliteError, and each instance has the name of its class', () => {
  const errors = [
    new SqliteError('m', 'SQLITE_ERROR', 1),
    new TransactionError('m', 'execute'),
    new AbortError('reason'),
    new ResqliteError('m', 'RESQLITE_CLOSED'),
  ]
  for (const error of errors) {
    assert.ok(error instanceof ResqliteError)
    assert.ok(error instanceof Error)
    assert.equal(error.name, error.constructor.name)
    assert.match(String(error.stack), new RegExp(`^${error.name}: `))
  }
})

const calls: Record<string, (db: Database) => Promise<unknown>> = {
  select: (db) => db.select('SELECT nope'),
  selectOne: (db) => db.selectOne('SELECT nope'),
  selectBytes: (db) => db.selectBytes('SELECT nope'),
  execute: (db) => db.execute('INSERT INTO nope VALUES (1)'),
  executeBatch: (db) => db.executeBatch('INSERT INTO nope VALUES (?)', [[1]]),
  exec: (db) => db.exec('SELECT nope'),
  iterate: (db) => db.iterate('SELECT nope').next(),
  'transaction, statement': (db) => db.transaction((tx) => tx.select('SELECT nope')),
  'transaction, joined statement': (db) => db.transaction(() => db.select('SELECT nope')),
  'transaction, batch': (db) => db.transaction((tx) => tx.executeBatch('INSERT INTO nope VALUES (?)', [[1]])),
  'transaction, nested': (db) =>
    db.transaction((tx) =>
      tx.transaction(async function theCallerOfThis(inner) {
        await inner.select('SELECT nope')
      }),
    ),
  snapshot: (db) => db.snapshot((snap) => snap.select('SELECT nope')),
  'a wrong parameter': (db) => db.select('SELECT ?', [undefined as never]),
  'transaction, a wrong parameter': (db) =>
    db.transaction(async function theCallerOfThis(tx) {
      await tx.select('SELECT ?', [undefined as never])
    }),
}

for (const [name, call] of Object.entries(calls)) {
  // G27
  test(`the stack of a failed call leads to its caller: ${name}`, async (t) => {
    const db = await tempDatabase(t)
    async function theCallerOfThis(): Promise<void> {
      await call(db)
    }
    async function theCallerOfTheCaller(): Promise<void> {
      await theCallerOfThis()
    }
    await db.select('SELECT 1') // what is tested is not the first call ever
    await assert.rejects(theCallerOfTheCaller(), (error: Error) => {
      assert.match(String(error.stack), /theCallerOfThis/)
      return true
    })
  })
}

// G27
test('the stack of a body that fails leads through the transaction to its caller', async (t) => {
  const db = await tempDatabase(t)
  async function theBody(): Promise<void> {
    await db.select('SELECT nope')
  }
  async function theCaller(): Promise<void> {
    await db.transaction(theBody)
  }
  await assert.rejects(theCaller(), (error: Error) => {
    assert.match(String(error.stack), /theBody[\s\S]*theCaller/)
    return true
  })
})

// G26
test('an SqliteError carries the statement', async (t) => {
  const db = await tempDatabase(t)
  const sql = 'SELECT 1, 2 FROM nowhere'
  const outcomes = await Promise.allSettled([
    db.select(sql),
    db.execute(sql),
    db.executeBatch(sql, [[]]),
    db.iterate(sql).next(),
  ])
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected')
    const { reason } = outcome as { reason: SqliteError }
    assert.equal(reason.sql, sql)
    assert.equal(reason.code, 'SQLITE_ERROR')
    assert.equal(reason.errno, 1)
  }
})

test('a rejected promise that nobody has caught yet is no crash inside', async (t) => {
  const db = await tempDatabase(t)
  const failing = Array.from({ length: 100 }, (_, i) => db.select(`SELECT nope${i}`))
  const outcomes = await Promise.allSettled(failing)
  outcomes.forEach((outcome, i) => {
    assert.ok(outcome.status === 'rejected' && outcome.reason.message.includes(`nope${i}`))
  })
})
