import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database, ResqliteError, Transaction, TransactionError, TransactionHandle } from 'resqlite'
import { ENDLESS, gate, withCode } from './support/errors'
import { openDatabase, tempDatabase, tempFile } from './support/temp'

const TABLE = 'CREATE TABLE t(x PRIMARY KEY)'
const INSERT = 'INSERT INTO t VALUES (?)'
const ended = withCode('RESQLITE_TRANSACTION', 'has ended')

async function values(db: { select(sql: string): Promise<unknown[]> }): Promise<unknown[]> {
  const rows = (await db.select('SELECT x FROM t ORDER BY x')) as { x: unknown }[]
  return rows.map((row) => row.x)
}

/** A transaction of a new database. */
async function begun(t: TestContext): Promise<{ db: Database; tx: TransactionHandle }> {
  const db = await tempDatabase(t, TABLE)
  return { db, tx: await db.begin() }
}

/** Resolves when the transaction has been rolled back from outside. */
async function interrupted(tx: TransactionHandle): Promise<void> {
  while (tx.open) await new Promise(setImmediate)
}

// G217
test('begin, calls and commit are a transaction', async (t) => {
  const { db, tx } = await begun(t)
  await tx.execute(INSERT, [1])
  await tx.executeBatch(INSERT, [[2], [3]])
  await tx.exec('INSERT INTO t VALUES (4)')
  assert.deepEqual(await values(tx), [1, 2, 3, 4])
  assert.deepEqual(await tx.selectOne('SELECT max(x) AS m FROM t'), { m: 4 })
  assert.equal(Buffer.from(await tx.selectBytes('SELECT min(x) AS m FROM t')).toString(), '[{"m":1}]')
  assert.equal(tx.open, true)
  await tx.commit()
  assert.equal(tx.open, false)
  assert.deepEqual(await values(db), [1, 2, 3, 4])
})

test('rollback undoes everything', async (t) => {
  const { db, tx } = await begun(t)
  await tx.execute(INSERT, [1])
  await tx.rollback()
  assert.equal(tx.open, false)
  assert.deepEqual(await values(db), [])
})

// G218
test('a handle that leaves its block is rolled back unless it was committed', async (t) => {
  const db = await tempDatabase(t, TABLE)
  {
    await using tx = await db.begin()
    await tx.execute(INSERT, [1])
  }
  {
    await using tx = await db.begin()
    await tx.execute(INSERT, [2])
    await tx.commit()
  }
  const failing = async () => {
    await using tx = await db.begin()
    await tx.execute(INSERT, [3])
    throw new Error('mine')
  }
  await assert.rejects(failing(), /mine/)
  assert.deepEqual(await values(db), [2])
})

// G217
test('calls on the database do not join: reads see what is committed, and writes wait for the end', async (t) => {
  const { db, tx } = await begun(t)
  await tx.execute(INSERT, [1])
  assert.deepEqual(await values(db), [])
  const order: string[] = []
  const write = db.execute(INSERT, [2]).then(() => order.push('write'))
  const other = db.begin().then(async (next) => {
    order.push('begin')
    await next.commit()
  })
  await tx.execute(INSERT, [3])
  order.push('commit')
  await tx.commit()
  await Promise.all([write, other])
  assert.deepEqual(order, ['commit', 'write', 'begin'])
  assert.deepEqual(await values(db), [1, 2, 3])
})

test('a statement that fails leaves the transaction as it was', async (t) => {
  const { db, tx } = await begun(t)
  await tx.execute(INSERT, [1])
  await assert.rejects(tx.executeBatch(INSERT, [[2], [1]]), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  await tx.execute(INSERT, [3])
  await tx.commit()
  assert.deepEqual(await values(db), [1, 3])
})

// G217
test('calls that are made together run in order, and commit waits for them', async (t) => {
  const { db, tx } = await begun(t)
  const sets = function* () {
    for (let i = 100; i < 50_000; i++) yield [i]
  }
  const calls = [
    tx.execute(INSERT, [1]),
    tx.executeBatch(INSERT, sets()),
    tx.selectOne<{ n: number }>('SELECT count(*) AS n FROM t'),
    tx.savepoint('a'),
    tx.execute(INSERT, [2]),
    tx.rollbackTo('a'),
    tx.commit(),
  ] as const
  const [, , counted] = await Promise.all(calls)
  assert.deepEqual(counted, { n: 49_901 })
  assert.equal((await values(db)).length, 49_901)
})

// G217
test('a call that fails and was not awaited makes the commit fail and roll back', async (t) => {
  const { db, tx } = await begun(t)
  await tx.execute(INSERT, [1])
  const call = tx.execute(INSERT, [1])
  await assert.rejects(tx.commit(), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  await assert.rejects(call, withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  await tx.rollback()
  assert.deepEqual(await values(db), [])
})

// G217
test('a commit that SQLite refuses rolls back, and lets others write', async (t) => {
  const schema = `CREATE TABLE p(id INTEGER PRIMARY KEY);
    CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)`
  const db = await tempDatabase(t, schema)
  const tx = await db.begin()
  await tx.execute('INSERT INTO c VALUES (1)')
  await assert.rejects(tx.commit(), withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
  assert.equal(tx.open, false)
  await tx.rollback()
  await db.execute('INSERT INTO p VALUES (1)')
  assert.deepEqual(await db.select('SELECT * FROM c'), [])
})

// G217
test('after the end every call is refused', async (t) => {
  const { db, tx } = await begun(t)
  await tx.commit()
  const rolledBack = await db.begin()
  await rolledBack.rollback()
  for (const over of [tx, rolledBack]) {
    const calls = [
      over.select('SELECT 1'),
      over.execute(INSERT, [1]),
      over.executeBatch(INSERT, [[1]]),
      over.exec('SELECT 1'),
      over.transaction(async () => {}),
      over.savepoint('a'),
      over.rollbackTo('a'),
      over.release('a'),
      over.commit(),
    ]
    for (const call of calls) await assert.rejects(call, ended)
    await over[Symbol.asyncDispose]()
  }
  assert.deepEqual(await values(db), [])
})

// G217
test('a rollback after a rollback does nothing, and after a commit it is refused', async (t) => {
  const { db, tx } = await begun(t)
  await Promise.all([tx.rollback(), tx.rollback()])
  await tx.rollback()
  const next = await db.begin()
  await next.execute(INSERT, [1])
  const committing = next.commit()
  await assert.rejects(next.execute(INSERT, [2]), ended)
  await assert.rejects(next.rollback(), withCode('RESQLITE_TRANSACTION', 'committed'))
  await committing
  await assert.rejects(next.rollback(), withCode('RESQLITE_TRANSACTION', 'committed'))
  assert.deepEqual(await values(db), [1])
})

// G217
test('rollback interrupts the calls that run', async (t) => {
  const { db, tx } = await begun(t)
  const running = tx.select(ENDLESS)
  const waiting = tx.execute(INSERT, [1])
  await tx.rollback()
  await assert.rejects(running, withCode('RESQLITE_TRANSACTION', 'rolled back'))
  await assert.rejects(waiting, withCode('RESQLITE_TRANSACTION', 'rolled back'))
  assert.deepEqual(await values(db), [])
})

// G217
test('an error that makes SQLite roll everything back ends the transaction', async (t) => {
  const { db, tx } = await begun(t)
  await tx.execute(INSERT, [1])
  const fatal = tx.execute('INSERT OR ROLLBACK INTO t VALUES (1)')
  await assert.rejects(fatal, withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  await assert.rejects(tx.commit(), withCode('RESQLITE_TRANSACTION', 'rolled the whole transaction back'))
  await tx.rollback()
  assert.deepEqual(await values(db), [])
})

// G218
test('after its timeout a transaction is rolled back, and its calls say so', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const tx = await db.begin({ timeout: 50 })
  const calls = await Promise.allSettled([tx.execute(INSERT, [1]), tx.select(ENDLESS)])
  const first = calls.find(({ status }) => status === 'rejected') as PromiseRejectedResult
  assert.equal(first.reason.code, 'RESQLITE_TIMEOUT') // that of the insert, if it came too late on a busy machine
  await interrupted(tx)
  const late = (error: TransactionError) => {
    const { code } = error.cause as ResqliteError
    return ended(error) && code === 'RESQLITE_TIMEOUT' && error.message.includes('longer than 50 ms')
  }
  await assert.rejects(tx.execute(INSERT, [2]), late)
  await assert.rejects(tx.commit(), late)
  await tx.rollback()
  await db.execute(INSERT, [3])
  assert.deepEqual(await values(db), [3])
})

// G218
test('a transaction that is forgotten ends by its timeout', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.begin({ timeout: 50 })
  await db.execute(INSERT, [1])
})

// G218
test('a signal rolls back, or ends the wait for the write lock', async (t) => {
  const { db, tx } = await begun(t)
  const controller = new AbortController()
  const { signal } = controller
  const waits = db.begin({ signal })
  controller.abort('enough')
  await assert.rejects(waits, withCode('RESQLITE_ABORTED'))
  await tx.rollback()
  await assert.rejects(db.begin({ signal }), withCode('RESQLITE_ABORTED'))

  const later = new AbortController()
  const next = await db.begin({ signal: later.signal })
  await next.execute(INSERT, [1])
  later.abort()
  assert.equal(next.open, false)
  await assert.rejects(next.commit(), ended)
  await next.rollback()
  assert.deepEqual(await values(db), [])
})

// G218
test('close rolls an open transaction back, and waits for that', async (t) => {
  const path = tempFile(t)
  const db = await openDatabase(t, path)
  await db.exec(TABLE)
  const tx = await db.begin()
  await tx.execute(INSERT, [1])
  const running = assert.rejects(tx.select(ENDLESS), withCode('RESQLITE_CLOSED'))
  await db.close()
  await running
  await assert.rejects(tx.commit(), (error: TransactionError) => {
    return ended(error) && (error.cause as ResqliteError).code === 'RESQLITE_CLOSED'
  })
  assert.deepEqual(await values(await openDatabase(t, path)), [])
})

// G218
test('close waits for a commit that runs', async (t) => {
  const path = tempFile(t)
  const db = await openDatabase(t, path)
  await db.exec(TABLE)
  const tx = await db.begin()
  await tx.execute(INSERT, [1])
  await Promise.all([tx.commit(), db.close()])
  assert.deepEqual(await values(await openDatabase(t, path)), [1])
})

// G219
test('savepoints undo a part, and nest', async (t) => {
  const { db, tx } = await begun(t)
  await tx.execute(INSERT, [1])
  await tx.savepoint('a')
  await tx.execute(INSERT, [2])
  await tx.savepoint('b')
  await tx.execute(INSERT, [3])
  await tx.rollbackTo('b')
  await tx.execute(INSERT, [4])
  await tx.rollbackTo('a')
  await assert.rejects(tx.release('b'), withCode('RESQLITE_TRANSACTION', 'no open savepoint "b"'))
  await tx.execute(INSERT, [5])
  await tx.rollbackTo('a')
  await tx.execute(INSERT, [6])
  await tx.release('a')
  await assert.rejects(tx.rollbackTo('a'), withCode('RESQLITE_TRANSACTION', 'no open savepoint "a"'))
  await tx.commit()
  assert.deepEqual(await values(db), [1, 6])
})

// G219
test('release closes the savepoints inside, too, and commit closes all', async (t) => {
  const { db, tx } = await begun(t)
  for (const name of ['a', 'b', 'c']) await tx.savepoint(name)
  await tx.execute(INSERT, [1])
  await tx.release('b')
  await assert.rejects(tx.release('c'), withCode('RESQLITE_TRANSACTION', 'no open savepoint "c"'))
  await tx.commit()
  assert.deepEqual(await values(db), [1])
})

// G219
test('of savepoints with equal names the innermost is meant, and case does not matter', async (t) => {
  const { db, tx } = await begun(t)
  await tx.savepoint('Same')
  await tx.execute(INSERT, [1])
  await tx.savepoint('same')
  await tx.execute(INSERT, [2])
  await tx.rollbackTo('SAME')
  assert.deepEqual(await values(tx), [1])
  await tx.release('same')
  await tx.rollbackTo('same')
  assert.deepEqual(await values(tx), [])
  await tx.savepoint('Ä')
  await assert.rejects(tx.release('ä'), withCode('RESQLITE_TRANSACTION', 'no open savepoint'))
  await tx.savepoint('"; DROP TABLE t; --')
  await tx.rollbackTo('"; DROP TABLE t; --')
  await tx.commit()
  assert.deepEqual(await values(db), [])
})

// G219
test('the name of a savepoint must be a string that is not empty', async (t) => {
  const { tx } = await begun(t)
  for (const name of ['', undefined, 7, null] as string[]) {
    for (const call of [tx.savepoint(name), tx.rollbackTo(name), tx.release(name)]) {
      await assert.rejects(call, (error: Error) => {
        return error instanceof TypeError && withCode('RESQLITE_OPTION', 'savepoint')(error)
      })
    }
  }
  await tx.rollback()
})

// G219
test('nested transactions go inside the open savepoints, which are refused meanwhile', async (t) => {
  const { db, tx } = await begun(t)
  await tx.savepoint('a')
  await tx.execute(INSERT, [1])
  await tx.savepoint('b')
  const goOn = gate()
  const nested = tx.transaction(async (inner) => {
    await inner.execute(INSERT, [2])
    await inner.transaction((third) => third.execute(INSERT, [3]))
    await goOn.promise
    throw new Error('inner')
  })
  const refused = withCode('RESQLITE_TRANSACTION', 'nested')
  for (const call of [tx.savepoint('c'), tx.rollbackTo('a'), tx.release('a')]) {
    await assert.rejects(call, refused)
  }
  goOn.open()
  await assert.rejects(nested, /inner/)
  await tx.transaction((inner) => inner.execute(INSERT, [4]))
  assert.deepEqual(await values(tx), [1, 4])
  await tx.rollbackTo('b')
  assert.deepEqual(await values(tx), [1])
  await tx.rollbackTo('a')
  await tx.execute(INSERT, [5])
  await tx.commit()
  assert.deepEqual(await values(db), [5])
})

// G219
test('what a savepoint undid makes no live query run', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const live = db.stream('SELECT count(*) AS n FROM t')
  const results = live[Symbol.asyncIterator]()
  await results.next()
  const tx = await db.begin()
  await tx.savepoint('a')
  await tx.execute(INSERT, [1])
  await tx.rollbackTo('a')
  await tx.commit()
  await db.execute(INSERT, [2])
  assert.deepEqual((await results.next()).value, [{ n: 1 }])
  assert.equal(live.stats?.reruns, 1)
  await results.return?.()
})

// G217
test('begin is refused where it would wait for itself or could not write', async (t) => {
  const path = tempFile(t)
  const db = await openDatabase(t, path)
  await db.transaction(async () => {
    await assert.rejects(db.begin(), withCode('RESQLITE_TRANSACTION', 'tx.transaction'))
  })
  const reading = await openDatabase(t, path, { readOnly: true })
  await assert.rejects(reading.begin(), withCode('RESQLITE_READ_ONLY', 'begin'))
  await assert.rejects(db.begin({ wait: 1 } as object), withCode('RESQLITE_OPTION', 'begin', 'wait'))
  await assert.rejects(db.begin({ timeout: 0 }), withCode('RESQLITE_OPTION', 'timeout'))
})

// G216
test('begin without foreign keys checks them at its commit', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p)')
  const tx = await db.begin({ foreignKeys: false })
  await tx.execute('INSERT INTO c VALUES (1)')
  await assert.rejects(tx.commit(), withCode('SQLITE_CONSTRAINT_FOREIGNKEY', 'row 1 of c'))
  await assert.rejects(db.execute('INSERT INTO c VALUES (1)'), withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
})

// G218
test('diagnostics names the transaction that holds the writer by its last statement', async (t) => {
  const { db, tx } = await begun(t)
  const began = (await db.diagnostics()).writer.transaction
  assert.deepEqual({ ...began, since: 0, idle: true }, { kind: 'begin', since: 0, idle: true })
  await tx.execute(INSERT, [1])
  const waits = db.execute(INSERT, [2])
  const { queued, transaction } = (await db.diagnostics()).writer
  assert.equal(queued, 1)
  assert.equal(transaction?.sql, INSERT)
  await tx.commit()
  await waits
  assert.equal((await db.diagnostics()).writer.transaction, null)
})

// G217
test('commit in the body of a nested transaction is refused instead of waiting for itself', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const tx = await db.begin()
  await tx.transaction(async () => {
    await assert.rejects(tx.commit(), withCode('RESQLITE_TRANSACTION', 'innermost'))
  })
  await tx.commit()
})

// G217
test('SQL that closes a savepoint around a batch or a nested transaction rolls everything back', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const inner: Record<string, (tx: Transaction) => Promise<unknown>> = {
    batch: (tx) => tx.batch(['INSERT INTO t VALUES (2)', 'RELEASE o', 'INSERT INTO nope VALUES (3)']),
    exec: (tx) => tx.exec('INSERT INTO t VALUES (2); ROLLBACK TO o; INSERT INTO t VALUES (3)'),
    nested: (tx) =>
      tx.transaction(async (nested) => {
        await nested.execute('RELEASE o')
        await nested.execute('INSERT INTO t VALUES (2)')
        throw new Error('undo')
      }),
  }
  for (const [name, run] of Object.entries(inner)) {
    const tx = await db.begin()
    await tx.execute('SAVEPOINT o')
    await tx.execute('INSERT INTO t VALUES (1)')
    await assert.rejects(run(tx), name)
    await assert.rejects(tx.commit(), withCode('RESQLITE_TRANSACTION'))
    assert.deepEqual(await db.select('SELECT x FROM t'), [], name)
  }
})
