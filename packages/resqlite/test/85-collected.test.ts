import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Database } from 'resqlite'
import { startWith } from './support/process'
import type { Tools } from './support/process-tools'
import { tempFile } from './support/temp'

/** Things that are dropped half-way, each more often than there can be threads. */
const forgotten: Record<string, (db: Database, count: string) => unknown> = {
  'an iterator': async (db, count) => {
    await db.iterate(count, [], { batchSize: 10 }).next()
  },
  'an iterator with a signal': async (db, count) => {
    await db.iterate(count, [], { batchSize: 10, signal: new AbortController().signal }).next()
  },
  'an iterator whose query still runs': (db) => {
    const endless =
      'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x % 999 = 0'
    return db.iterate(endless, [], { batchSize: 1 }).next()
  },
  'a loop that never goes on': (db, count) => {
    void (async () => {
      for await (const _ of db.iterate(count, [], { batchSize: 10 })) await new Promise(() => {})
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
    await db.stream('SELECT x FROM t').changes({ key: 'x' }).next()
  },
  'a loop over a live query that never goes on': (db) => {
    void (async () => {
      for await (const _ of db.stream('SELECT x FROM t WHERE x > 1')) await new Promise(() => {})
    })()
  },
}

for (const [what, forget] of Object.entries(forgotten)) {
  test(`${what} that is dropped releases its resources once it is collected`, async (t) => {
    await inProcess(t, `(${forget})`, async ({ Database, say, count, turn }, file, script) => {
      const db = await Database.open(file)
      await db.exec('CREATE TABLE t(x PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)')
      // biome-ignore lint/security/noGlobalEval: it is the source text of a function of this file
      const forget = eval(script)
      const held = async () => {
        const { leases, streams } = await db.diagnostics()
        return leases.open + leases.queued + leases.holders.length + streams.open
      }
      for (let i = 0; i < 40; i++) await forget(db, count(1_000_000))
      if ((await held()) === 0) say('nothing was held')
      while ((await held()) > 0) {
        globalThis.gc?.()
        await turn()
      }
      await db.close()
      say('all given back')
    })
  })
}

test('a transaction of begin that is dropped is rolled back once it is collected', async (t) => {
  const said = await inProcess(t, '', async ({ Database, say, turn }, file) => {
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x)')
    const forget = async () => {
      const tx = await db.begin({ timeout: 1_000_000_000 })
      await tx.execute('INSERT INTO t VALUES (1)')
    }
    await forget()
    let written = false
    db.execute('INSERT INTO t VALUES (2)').then(() => {
      written = true
    })
    while (!written) {
      globalThis.gc?.()
      await turn()
    }
    say(JSON.stringify(await db.select('SELECT x FROM t')))
    await db.close()
  })
  assert.deepEqual(JSON.parse(said), [{ x: 2 }])
})

/** Things that are dropped while something else still uses them. */
const needed: Record<string, (db: Database, count: string) => Promise<unknown>> = {
  'an iterator whose next is awaited': (db, count) =>
    db.iterate<{ m: number }>(`SELECT max(x) AS m FROM (${count.replace('1000000', '300000')})`).next(),
  'an iterator in a loop': async (db, count) => {
    let rows = 0
    for await (const _ of db.iterate(count, [], { batchSize: 20_000 })) rows++
    return rows
  },
  'an iterator of a live query whose next is awaited': async (db) => {
    const iterator = db.stream('SELECT max(x) AS m FROM t')[Symbol.asyncIterator]()
    await iterator.next()
    setTimeout(() => db.execute('INSERT INTO t VALUES (7)'), 50)
    return await iterator.next()
  },
  'a snapshot whose body works on without it': async (db) => {
    return await db.snapshot(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return 'done'
    })
  },
  'a subscription': (db) =>
    new Promise((resolve) => {
      db.stream('SELECT max(x) AS m FROM t').subscribe(([row]) => {
        if (row?.m === 8) resolve(row)
      })
      setTimeout(() => db.execute('INSERT INTO t VALUES (8)'), 50)
    }),
}
const outcomes = [
  { value: { m: 300_000 }, done: false },
  1_000_000,
  { value: [{ m: 7 }], done: false },
  'done',
  { m: 8 },
]

for (const [i, [what, use]] of Object.entries(needed).entries()) {
  test(`${what} is not collected`, async (t) => {
    const said = await inProcess(t, `(${use})`, async ({ Database, say, count, turn }, file, script) => {
      const db = await Database.open(file)
      await db.exec('CREATE TABLE t(x PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)')
      let over = false
      // biome-ignore lint/security/noGlobalEval: it is the source text of a function of this file
      const outcome = eval(script)(db, count(1_000_000)).finally(() => {
        over = true
      })
      while (!over) {
        globalThis.gc?.()
        await turn()
      }
      say(JSON.stringify(await outcome))
      await db.close()
    })
    assert.deepEqual(JSON.parse(said as string), outcomes[i])
  })
}

/** Returns the only line that a script prints in a process that can start garbage collections. */
async function inProcess(
  t: TestContext,
  script: string,
  main: (tools: Tools, file: string, script: string) => Promise<void>,
): Promise<string> {
  const lines = await startWith(t, ['--expose-gc'], main, tempFile(t), script).output()
  assert.equal(lines.length, 1)
  return lines[0] as string
}
