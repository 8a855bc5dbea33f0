import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AbortError, Database, Queryable, Transaction } from 'resqlite'
import { ENDLESS, withCode } from './support/errors'
import { run, startWith } from './support/process'
import type { Tools } from './support/process-tools'
import { tempDatabase, tempFile } from './support/temp'

const COUNT = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < ?) SELECT x FROM c'
const TABLE = `CREATE TABLE t(x INTEGER PRIMARY KEY); INSERT INTO t ${COUNT.replace('?', '100')}`
const ALL = 'SELECT x FROM t ORDER BY x'
const small = { batchSize: 3 }
const over = { value: undefined, done: true }
const ended = withCode('RESQLITE_TRANSACTION', 'has ended')
const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

async function collect(q: Queryable, sql = ALL): Promise<number[]> {
  const seen: number[] = []
  for await (const { x } of q.iterate<{ x: number }>(sql, [], small)) seen.push(x)
  return seen
}

const places: Record<string, <T>(db: Database, body: (q: Queryable) => Promise<T>) => Promise<T>> = {
  'a transaction': (db, body) => db.transaction(body),
  'a nested transaction': (db, body) => db.transaction((tx) => tx.transaction(body)),
  'the body of a transaction called on the database': (db, body) => db.transaction(() => body(db)),
  'a transaction of begin': async (db, body) => {
    await using tx = await db.begin()
    return await body(tx)
  },
  'a snapshot': (db, body) => db.snapshot(body),
}

for (const [where, inside] of Object.entries(places)) {
  // G289
  test(`iterate in ${where} gives all rows in order, as objects or arrays`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    await inside(db, async (q) => {
      assert.deepEqual(await collect(q), numbers(1, 100))
      const arrays: unknown[][] = []
      for await (const row of q.iterate(ALL, [], { arrays: true, ...small })) arrays.push(row)
      assert.deepEqual(
        arrays,
        numbers(1, 100).map((x) => [x]),
      )
    })
  })

  // G290
  test(`iterators in ${where} run side by side and between other calls`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    await inside(db, async (q) => {
      const up = q.iterate<{ x: number }>(ALL, [], small)
      const down = q.iterate<{ x: number }>('SELECT x FROM t ORDER BY x DESC', [], { batchSize: 7 })
      for (let i = 1; i <= 100; i++) {
        assert.equal((await up.next()).value.x, i)
        assert.equal((await down.next()).value.x, 101 - i)
        assert.deepEqual(await q.selectOne('SELECT count(*) AS n FROM t'), { n: 100 })
      }
      assert.deepEqual([await up.next(), await down.next()], [over, over])
    })
  })

  // G290
  test(`return in ${where} interrupts the query that a next waits for, and the place goes on`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    await inside(db, async (q) => {
      const iterator = q.iterate(ENDLESS)
      const pending = iterator.next()
      assert.deepEqual(await iterator.return?.(), over)
      assert.deepEqual(await pending, over)
      assert.deepEqual(await q.selectOne('SELECT count(*) AS n FROM t'), { n: 100 })
    })
  })

  // G290
  test(`a signal ends one iterator in ${where}, and no other call`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    await inside(db, async (q) => {
      const controller = new AbortController()
      const other = q.iterate<{ x: number }>(ALL, [], small)
      await other.next()
      const iterator = q.iterate(ENDLESS, [], { signal: controller.signal })
      const pending = iterator.next()
      const failed = assert.rejects(
        pending,
        (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough',
      )
      controller.abort('enough')
      await failed
      assert.deepEqual(await iterator.next(), over)
      assert.deepEqual(await other.next(), { value: { x: 2 }, done: false })
    })
  })

  // G290
  test(`limits hold for each iterator in ${where}`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    await inside(db, async (q) => {
      const free = q.iterate<{ x: number }>(COUNT, [100_000], { batchSize: 10 })
      await free.next()
      const loop = async () => {
        for await (const _ of q.iterate(COUNT, [1e9], { batchSize: 10, limits: { steps: 50_000 } }))
          await free.next()
      }
      await assert.rejects(loop(), withCode('RESQLITE_LIMIT', 'limits.steps'))
      assert.equal((await free.next()).done, false)
    })
  })

  // G292
  test(`an iterator that is left open in ${where} ends with it`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    const [begun, waiting] = await inside(db, async (q) => {
      const begun = q.iterate(ALL, [], small)
      await begun.next()
      return [begun, q.iterate(ALL)]
    })
    await assert.rejects(begun.next(), ended)
    assert.deepEqual(await begun.next(), over)
    await assert.rejects(waiting.next(), ended)
    await db.exec('DROP TABLE t')
  })
}

// G289
test('an iterator in a transaction sees what the transaction has written', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.execute('INSERT INTO t VALUES (101)')
    assert.deepEqual(await collect(tx), numbers(1, 101))
    assert.deepEqual(await collect(db), numbers(1, 101))
  })
})

// G289
test('an iterator of db.begin beside it sees what is committed', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await using tx = await db.begin()
  await tx.execute('DELETE FROM t')
  assert.deepEqual(await collect(tx), [])
  assert.deepEqual(await collect(db), numbers(1, 100))
})

// G291
test('a transaction may change the rows that its loop has got', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    const seen: number[] = []
    for await (const { x } of tx.iterate<{ x: number }>(ALL, [], small)) {
      seen.push(x)
      if (x % 2 === 0) await tx.execute('DELETE FROM t WHERE x = ?', [x])
      else await tx.executeBatch('UPDATE t SET x = -x WHERE x = ?', [[x]])
    }
    assert.deepEqual(seen, numbers(1, 100))
  })
  assert.deepEqual(await db.select('SELECT count(*) AS n, max(x) AS m FROM t'), [{ n: 50, m: -1 }])
})

// G291
test('a loop goes on around nested transactions, kept or undone', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const mine = new Error('mine')
  await db.transaction(async (tx) => {
    const seen: number[] = []
    for await (const { x } of tx.iterate<{ x: number }>(ALL, [], small)) {
      seen.push(x)
      const nested = tx.transaction(async (inner) => {
        await inner.execute('DELETE FROM t WHERE x = ?', [x])
        if (x % 2 === 0) throw mine
      })
      if (x % 2 === 0) await assert.rejects(nested, mine)
      else await nested
    }
    assert.deepEqual(seen, numbers(1, 100))
  })
  assert.deepEqual(await db.select('SELECT count(*) AS n FROM t'), [{ n: 50 }])
})

// G293
test('while a nested transaction is open, the outer one opens no iterator', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    const before = tx.iterate(ALL)
    await tx.transaction(async () => {
      assert.throws(() => tx.iterate(ALL), withCode('RESQLITE_TRANSACTION', 'a nested transaction is open'))
      await assert.rejects(before.next(), withCode('RESQLITE_TRANSACTION', 'a nested transaction is open'))
    })
  })
})

// G291
test('a rollback to a savepoint that undoes a change of the schema fails the iterator by name', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const tx = await db.begin()
  const iterator = tx.iterate(ALL, [], { batchSize: 1 })
  await iterator.next()
  await tx.savepoint('before')
  await tx.exec('CREATE TABLE u(x)')
  await tx.rollbackTo('before')
  await assert.rejects(async () => {
    for await (const _ of iterator);
  }, withCode('SQLITE_ABORT_ROLLBACK'))
  assert.deepEqual(await tx.selectOne('SELECT count(*) AS n FROM t'), { n: 100 })
  await tx.commit()
})

// G292
test('a commit closes the iterators of a transaction of begin, and keeps its writes', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const tx = await db.begin()
  const iterator = tx.iterate(ALL, [], small)
  await iterator.next()
  await tx.execute('INSERT INTO t VALUES (101)')
  await tx.commit()
  await assert.rejects(iterator.next(), ended)
  assert.throws(() => tx.iterate(ALL), ended)
  assert.deepEqual(await db.selectOne('SELECT max(x) AS m FROM t'), { m: 101 })
})

const interruptions: Record<string, (db: Database, controller: AbortController) => unknown> = {
  'the signal of its transaction': (_, controller) => controller.abort(),
  'closing the database': (db) => db.close(),
}

for (const [what, interrupt] of Object.entries(interruptions)) {
  // G292
  test(`${what} ends an iterator that waits for its query`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    const controller = new AbortController()
    const code = what.startsWith('closing') ? 'RESQLITE_CLOSED' : 'RESQLITE_ABORTED'
    let loop: Promise<void> | undefined
    const body = async (tx: Transaction) => {
      loop = assert.rejects(tx.iterate(ENDLESS).next(), withCode(code))
      await tx.selectOne('SELECT 1')
    }
    const failed = assert.rejects(db.transaction(body, { signal: controller.signal }), withCode(code))
    while ((await db.diagnostics()).writer.transaction?.sql !== ENDLESS);
    await interrupt(db, controller)
    await failed
    await loop
  })
}

// G292
test('a timeout ends an iterator that waits for its query', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const body = async (tx: Transaction) => {
    for await (const _ of tx.iterate(ENDLESS));
  }
  await assert.rejects(db.transaction(body, { timeout: 50 }), withCode('RESQLITE_TIMEOUT'))
  await db.execute('INSERT INTO t VALUES (101)')
})

// G289
test('an iterator of a snapshot reads its state, whatever is written meanwhile', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.snapshot(async (snap) => {
    const seen: number[] = []
    for await (const { x } of snap.iterate<{ x: number }>(ALL, [], small)) {
      seen.push(x)
      await db.execute('DELETE FROM t WHERE x = 101 - ?', [x])
    }
    assert.deepEqual(seen, numbers(1, 100))
    assert.deepEqual(await collect(snap), numbers(1, 100))
  })
  assert.deepEqual(await collect(db), [])
})

test('an iterator keeps the transaction of begin that nothing else refers to', async (t) => {
  async function main({ Database, say, count, turn }: Tools, file: string) {
    const db = await Database.open(file)
    const begin = async () => (await db.begin()).iterate<{ x: number }>(count(2_000), [], { batchSize: 50 })
    let rows = 0
    for await (const _ of await begin()) {
      if (rows++ % 100 === 0) {
        globalThis.gc?.()
        await turn()
      }
    }
    say(rows)
    while ((await db.diagnostics()).writer.transaction !== null) {
      globalThis.gc?.()
      await turn()
    }
    say('rolled back')
    await db.close()
  }
  assert.deepEqual(await startWith(t, ['--expose-gc'], main, tempFile(t)).output(), ['2000', 'rolled back'])
})

test('iterate in a transaction holds two batches, however many rows there are', async (t) => {
  async function main({ Database, say, count, turn }: Tools, file: string) {
    const db = await Database.open(file)
    await db.transaction(async (tx) => {
      const rows = tx.iterate(`SELECT randomblob(100000) AS b FROM (${count(100_000)})`, [], {
        batchSize: 10,
      })
      await rows.next()
      const before = process.memoryUsage.rss()
      let most = 0
      for (let i = 0; i < 200; i++) {
        await tx.select('SELECT 1')
        await turn()
        most = Math.max(most, process.memoryUsage.rss())
      }
      say(most - before)
    })
    await db.close()
  }
  const [grown] = await run(t, main, tempFile(t))
  assert.ok(Number(grown) < 50 * 1024 * 1024, `grew by ${grown} bytes`)
})
