import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AbortError, ResqliteError, Transaction, TransactionError } from 'resqlite'
import { ENDLESS, gate, withCode } from './support/errors'
import { openDatabase, tempDatabase, tempFile } from './support/temp'

const TABLE = 'CREATE TABLE t(x PRIMARY KEY)'
const INSERT = 'INSERT INTO t VALUES (?)'
const never = () => new Promise<never>(() => {})

async function values(db: { select(sql: string): Promise<unknown[]> }): Promise<unknown[]> {
  const rows = (await db.select('SELECT x FROM t ORDER BY x')) as { x: unknown }[]
  return rows.map((row) => row.x)
}

// G52
test('a transaction commits what its body did and gives what it returned', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const result = await db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    await tx.executeBatch(INSERT, [[2], [3]])
    await tx.exec('INSERT INTO t VALUES (4); INSERT INTO t VALUES (5)')
    return 'done'
  })
  assert.equal(result, 'done')
  assert.deepEqual(await values(db), [1, 2, 3, 4, 5])
})

// G52
test('a body that throws rolls back, and its error is what the caller gets', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const mine = new Error('mine')
  const run = db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    throw mine
  })
  await assert.rejects(run, (error) => error === mine)
  assert.deepEqual(await values(db), [])
})

// G54
test('the handle sees what is not committed, others do not', async (t) => {
  const path = tempFile(t)
  const db = await openDatabase(t, path)
  const others = [db, await openDatabase(t, path)]
  await db.exec(TABLE)
  const [written, looked] = [gate(), gate()]
  const run = db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    assert.deepEqual(await values(tx), [1])
    assert.deepEqual(await tx.selectOne('SELECT x FROM t'), { x: 1 })
    written.open()
    await looked.promise
  })
  await written.promise
  for (const other of others) assert.deepEqual(await values(other), [])
  looked.open()
  await run
  for (const other of others) assert.deepEqual(await values(other), [1])
})

// G55
test('calls on the database inside the body join the transaction', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const run = db.transaction(async () => {
    await db.execute(INSERT, [1])
    await db.executeBatch(INSERT, [[2]])
    await db.exec('INSERT INTO t VALUES (3)')
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(await values(db), [1, 2, 3])
    assert.deepEqual(await db.selectOne('SELECT max(x) AS m FROM t'), { m: 3 })
    throw new Error('undo')
  })
  await assert.rejects(run, /undo/)
  assert.deepEqual(await values(db), [])
})

// G55
test('the calls of other transactions and of no transaction do not join', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const inside = gate()
  const goOn = gate()
  const run = db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    inside.open()
    await goOn.promise
  })
  await inside.promise
  assert.deepEqual(await values(db), [])
  const write = db.execute(INSERT, [2])
  goOn.open()
  await Promise.all([run, write])
  assert.deepEqual(await values(db), [1, 2])
})

// G55
test('a call from a body on another database does not join', async (t) => {
  const one = await tempDatabase(t, TABLE)
  const two = await tempDatabase(t, TABLE)
  const run = one.transaction(async () => {
    await two.execute(INSERT, [1])
    await two.transaction(async () => {
      await two.execute(INSERT, [2])
      await one.execute(INSERT, [3])
    })
    throw new Error('undo')
  })
  await assert.rejects(run, /undo/)
  assert.deepEqual(await values(one), [])
  assert.deepEqual(await values(two), [1, 2])
})

// G57
test('a nested transaction that fails undoes only itself', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    const inner = tx.transaction(async (nested) => {
      await nested.execute(INSERT, [2])
      await nested.transaction(async (third) => {
        await third.execute(INSERT, [3])
      })
      throw new Error('inner')
    })
    await assert.rejects(inner, /inner/)
    await db.transaction(async (nested) => {
      await nested.execute(INSERT, [4])
      await db.execute(INSERT, [5])
    })
  })
  assert.deepEqual(await values(db), [1, 4, 5])
})

// G57
test('while a nested transaction is open its parent takes no statements', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    const goOn = gate()
    const nested = tx.transaction(async (inner) => {
      await inner.execute(INSERT, [1])
      await goOn.promise
    })
    await assert.rejects(tx.execute(INSERT, [2]), withCode('RESQLITE_TRANSACTION', 'nested'))
    goOn.open()
    await nested
    await tx.execute(INSERT, [3])
  })
  assert.deepEqual(await values(db), [1, 3])
})

// G57
test('a nested transaction on a surrounding handle is refused instead of waiting for itself', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.transaction(async () => {
      await assert.rejects(
        tx.transaction(async () => {}),
        withCode('RESQLITE_TRANSACTION', 'innermost'),
      )
    })
  })
})

// G58
test('a statement that fails leaves the transaction alive', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    await assert.rejects(tx.execute(INSERT, [1]), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
    await tx.execute(INSERT, [2])
  })
  assert.deepEqual(await values(db), [1, 2])
})

// G60
test('a failed commit rolls back and rejects', async (t) => {
  const db = await tempDatabase(
    t,
    'CREATE TABLE p(id PRIMARY KEY); CREATE TABLE c(p REFERENCES p(id) DEFERRABLE INITIALLY DEFERRED)',
  )
  const run = db.transaction(async (tx) => {
    await tx.execute('INSERT INTO c VALUES (7)')
  })
  await assert.rejects(run, withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
  assert.deepEqual(await db.select('SELECT * FROM c'), [])
  assert.equal((await db.execute('INSERT INTO p VALUES (1)')).changes, 1)
})

// G59
test('a statement that was not awaited is part of the transaction', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    void tx.execute(INSERT, [1])
  })
  assert.deepEqual(await values(db), [1])
})

// G59
test('a statement that was not awaited and fails rolls back', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const run = db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    void tx.execute(INSERT, [1])
  })
  await assert.rejects(run, withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  assert.deepEqual(await values(db), [])
})

// G62
test('a handle rejects all calls after the end', async (t) => {
  const db = await tempDatabase(t, TABLE)
  let kept!: Transaction
  await db.transaction(async (tx) => {
    kept = tx
  })
  const uses: [string, () => Promise<unknown>][] = [
    ['select', () => kept.select('SELECT 1')],
    ['selectOne', () => kept.selectOne('SELECT 1')],
    ['selectBytes', () => kept.selectBytes('SELECT 1')],
    ['execute', () => kept.execute(INSERT, [1])],
    ['executeBatch', () => kept.executeBatch(INSERT, [[1]])],
    ['exec', () => kept.exec('')],
    ['transaction', () => kept.transaction(async () => {})],
  ]
  for (const [operation, use] of uses) {
    await assert.rejects(use(), (error: TransactionError) => {
      assert.equal(error.operation, operation)
      assert.equal(error.name, 'TransactionError')
      return withCode('RESQLITE_TRANSACTION', 'has ended')(error)
    })
  }
})

// G55
test('calls that outlive the body run on their own', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const ended = gate()
  let late!: Promise<unknown>
  const run = db.transaction(async () => {
    late = ended.promise.then(() => db.execute(INSERT, [1]))
    throw new Error('undo')
  })
  await assert.rejects(run, /undo/)
  ended.open()
  await late
  assert.deepEqual(await values(db), [1])
})

// G53
test('transactions run one after another', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE n(v); INSERT INTO n VALUES (0)')
  const increment = () =>
    db.transaction(async (tx) => {
      const row = await tx.selectOne<{ v: number }>('SELECT v FROM n')
      await tx.execute('UPDATE n SET v = ?', [(row?.v ?? 0) + 1])
    })
  await Promise.all(Array.from({ length: 50 }, increment))
  assert.deepEqual(await db.selectOne('SELECT v FROM n'), { v: 50 })
})

// G61
test('a timeout rolls back although the body hangs', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const run = db.transaction(
    async (tx) => {
      await tx.execute(INSERT, [1])
      await never()
    },
    { timeout: 20 },
  )
  await assert.rejects(run, withCode('RESQLITE_TIMEOUT'))
  assert.deepEqual(await values(db), [])
  await db.execute(INSERT, [2])
})

// G61
test('a timeout interrupts a running statement', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const run = db.transaction((tx) => tx.select(ENDLESS), { timeout: 20 })
  await assert.rejects(run, withCode('RESQLITE_TIMEOUT'))
  await db.execute(INSERT, [2])
})

// G61
test('a timeout of a nested transaction undoes only that', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    const nested = tx.transaction(
      async (inner) => {
        await inner.execute(INSERT, [2])
        await never()
      },
      { timeout: 20 },
    )
    await assert.rejects(nested, withCode('RESQLITE_TIMEOUT'))
    await tx.execute(INSERT, [3])
  })
  assert.deepEqual(await values(db), [1, 3])
})

test('a transaction that ends in time does not time out', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction((tx) => tx.execute(INSERT, [1]), { timeout: 60_000 })
  assert.deepEqual(await values(db), [1])
})

// G61
test('a signal rolls back and interrupts the running statement', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const controller = new AbortController()
  const running = gate()
  const run = db.transaction(
    async (tx) => {
      await tx.execute(INSERT, [1])
      running.open()
      await tx.select(ENDLESS)
    },
    { signal: controller.signal },
  )
  await running.promise
  controller.abort('enough')
  await assert.rejects(run, (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough')
  assert.deepEqual(await values(db), [])
})

// G77
test('a signal cancels waiting for the write lock', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const inside = gate()
  const goOn = gate()
  const first = db.transaction(async () => {
    inside.open()
    await goOn.promise
  })
  await inside.promise
  const controller = new AbortController()
  const second = db.transaction(async () => assert.fail('must not run'), { signal: controller.signal })
  controller.abort()
  await assert.rejects(second, withCode('RESQLITE_ABORTED'))
  goOn.open()
  await first
})

// G53
test('the body runs only when the write lock is held', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const inside = gate()
  const goOn = gate()
  const order: string[] = []
  const first = db.transaction(async () => {
    inside.open()
    await goOn.promise
    order.push('first')
  })
  await inside.promise
  const second = db.transaction(async () => {
    order.push('second')
  })
  goOn.open()
  await Promise.all([first, second])
  assert.deepEqual(order, ['first', 'second'])
})

test('the body may be synchronous, and anything else is refused', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.equal(await db.transaction(() => 7), 7)
  await assert.rejects(db.transaction('BEGIN' as never), withCode('RESQLITE_OPTION', 'must be a function'))
  await assert.rejects(
    db.transaction(async () => {}, { timeout: 0 }),
    withCode('RESQLITE_OPTION', 'timeout must be a positive number'),
  )
})

// G62
test('transaction control by hand is refused inside a transaction', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const run = db.transaction(async (tx) => {
    await tx.execute(INSERT, [1])
    await assert.rejects(tx.execute('COMMIT'), (error: ResqliteError) => error.code.startsWith('RESQLITE_'))
    throw new Error('undo')
  })
  await assert.rejects(run, /undo/)
  assert.deepEqual(await values(db), [])
})

/** Opens two objects on one file, the second with options of its own. */
async function twoObjects(t: TestContext) {
  const path = tempFile(t)
  const one = await openDatabase(t, path)
  await one.exec(TABLE)
  const two = await openDatabase(t, path, { integers: 'bigint', durability: 'full' })
  return { one, two }
}

// G56
test('calls on another object of the same file join the transaction, with the options of that object', async (t) => {
  const { one, two } = await twoObjects(t)
  const mine = new Error('undo')
  const run = one.transaction(async () => {
    await two.execute(INSERT, [1])
    await two.executeBatch(INSERT, [[2], [3]])
    await two.exec('INSERT INTO t VALUES (4)')
    await two.transaction(async (tx) => {
      await tx.execute(INSERT, [5])
      assert.deepEqual(await tx.selectOne('SELECT max(x) AS m FROM t'), { m: 5n })
    })
    assert.deepEqual(await two.select('SELECT count(*) AS n FROM t'), [{ n: 5n }])
    assert.deepEqual(await one.selectOne('SELECT count(*) AS n FROM t'), { n: 5 })
    assert.deepEqual(await two.selectOne('SELECT count(*) AS n FROM t'), { n: 5n })
    assert.equal(String(await two.selectBytes('SELECT count(*) AS n FROM t')), '[{"n":5}]')
    assert.deepEqual(await two.iterate('SELECT count(*) AS n FROM t').next(), {
      value: { n: 5n },
      done: false,
    })
    await assert.rejects(
      two.snapshot(async () => {}),
      withCode('RESQLITE_TRANSACTION', 'tx.select'),
    )
    throw mine
  })
  await assert.rejects(run, (error) => error === mine)
  assert.deepEqual(await values(one), [])
})

// G56
test('an object of another file does not join', async (t) => {
  const { one } = await twoObjects(t)
  const other = await tempDatabase(t, TABLE)
  await assert.rejects(
    one.transaction(async () => {
      await other.execute(INSERT, [1])
      throw new Error('undo')
    }),
    /undo/,
  )
  assert.deepEqual(await values(other), [1])
})

// G56
test('another object of the file that is closed does not join', async (t) => {
  const { one, two } = await twoObjects(t)
  await two.close()
  await one.transaction(async () => {
    await assert.rejects(two.execute(INSERT, [1]), withCode('RESQLITE_CLOSED'))
  })
  assert.deepEqual(await values(one), [])
})
