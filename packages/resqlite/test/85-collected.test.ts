import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from 'resqlite'
import { collectGarbage } from './support/garbage'
import { tools } from './support/process-tools'
import { tempDatabase } from './support/temp'

const SCHEMA = 'CREATE TABLE t(x PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)'
const NUMBERS = tools.count(100_000)

/** Collects garbage again and again until something is so. */
async function collectUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    collectGarbage()
    await tools.turn()
  }
}

/** Resolves when garbage has been collected so many times. */
async function collections(times: number): Promise<void> {
  await collectUntil(() => times-- === 0)
}

/** Things that are dropped half-way, each more often than there can be threads. */
const forgotten: Record<string, (db: Database) => unknown> = {
  'an iterator': async (db) => {
    await db.iterate(NUMBERS, [], { batchSize: 10 }).next()
  },
  'an iterator with a signal': async (db) => {
    await db.iterate(NUMBERS, [], { batchSize: 10, signal: new AbortController().signal }).next()
  },
  'an iterator whose query still runs': (db) => {
    const endless =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x % 999 = 0'
    return db.iterate(endless, [], { batchSize: 1 }).next()
  },
  'a loop that never goes on': (db) => {
    void (async () => {
      for await (const _ of db.iterate(NUMBERS, [], { batchSize: 10 })) await new Promise(() => {})
    })()
  },
  'a snapshot whose body never ends': async (db) => {
    await new Promise((resolve) => {
      const run = db.snapshot(async (snap) => {
        await snap.select('SELECT 1')
        resolve(undefined)
        await new Promise(() => {})
      })
      run.catch(() => {}) // the database is closed in the end
    })
  },
  'an iterator of a live query': async (db) => {
    await db.stream('SELECT x FROM t')[Symbol.asyncIterator]().next()
  },
  'changes of a live query': async (db) => {
    await db.stream('SELECT x FROM t').patches({ key: 'x' }).next()
  },
  'a loop over a live query that never goes on': (db) => {
    void (async () => {
      for await (const _ of db.stream('SELECT x FROM t WHERE x > 1')) await new Promise(() => {})
    })()
  },
}

for (const [what, forget] of Object.entries(forgotten)) {
  // G73
  test(`${what} that is dropped releases its resources once it is collected`, async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const held = async () => {
      const { leases, streams } = await db.diagnostics()
      return leases.open + leases.queued + leases.holders.length + streams.open
    }
    for (let i = 0; i < 40; i++) await forget(db)
    assert.notEqual(await held(), 0)
    await collectUntil(async () => (await held()) === 0)
  })
}

// G218
test('a transaction of begin that is dropped is rolled back once it is collected', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const forget = async () => {
    const tx = await db.begin({ timeout: 1_000_000_000 })
    await tx.execute('INSERT INTO t VALUES (1)')
  }
  await forget()
  let written = false
  db.execute('INSERT INTO t VALUES (2)').then(() => {
    written = true
  })
  await collectUntil(() => written)
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 2 }])
})

/** Things that are dropped while something else still uses them. */
const needed: Record<string, (db: Database) => Promise<unknown>> = {
  'an iterator whose next is awaited': (db) =>
    db.iterate<{ m: number }>(`SELECT max(x) AS m FROM (${NUMBERS})`).next(),
  'an iterator in a loop': async (db) => {
    let rows = 0
    for await (const _ of db.iterate(NUMBERS, [], { batchSize: 2_000 })) rows++
    return rows
  },
  'an iterator of a live query whose next is awaited': async (db) => {
    const iterator = db.stream('SELECT max(x) AS m FROM t')[Symbol.asyncIterator]()
    await iterator.next()
    void collections(5).then(() => db.execute('INSERT INTO t VALUES (7)'))
    return await iterator.next()
  },
  'a snapshot whose body works on without it': async (db) => {
    return await db.snapshot(async () => {
      await collections(5)
      return 'done'
    })
  },
  'a subscription': (db) =>
    new Promise((resolve) => {
      db.stream('SELECT max(x) AS m FROM t').subscribe(([row]) => {
        if (row?.m === 8) resolve(row)
      })
      void collections(5).then(() => db.execute('INSERT INTO t VALUES (8)'))
    }),
}
const outcomes = [
  { value: { m: 100_000 }, done: false },
  100_000,
  { value: [{ m: 7 }], done: false },
  'done',
  { m: 8 },
]

for (const [i, [what, use]] of Object.entries(needed).entries()) {
  // G73
  test(`${what} is not collected`, async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    let over = false
    const outcome = use(db).finally(() => {
      over = true
    })
    await collectUntil(() => over)
    assert.deepEqual(await outcome, outcomes[i])
  })
}
