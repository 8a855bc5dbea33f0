import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from 'resqlite'
import { runChild } from './support/child'
import { run, start, startWith } from './support/process'
import type { Tools } from './support/process-tools'
import { throws } from './support/random'
import { tempFile } from './support/temp'

// G82
test('an open, idle database does not keep the process alive', async (t) => {
  async function main({ Database, say }: Tools, file: string) {
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (7)')
    await db.select('SELECT * FROM t')
    await db.transaction((tx) => tx.execute('INSERT INTO t VALUES (8)'))
    for await (const row of db.iterate('SELECT * FROM t')) say(row.x as number)
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['7', '8'])
})

// G82
test('an iterator, a snapshot or a transaction that is left open does not keep the process alive', async (t) => {
  async function main({ Database, say, count, never }: Tools, file: string) {
    const db = await Database.open(file)
    say((await db.iterate(count(10)).next()).value.x)
    void db.snapshot(never)
    await db.transaction((tx) => tx.exec('CREATE TABLE t(x); INSERT INTO t VALUES (5)'))
    await new Promise((resolve) => {
      void db.transaction(async (tx) => {
        await tx.execute('UPDATE t SET x = 6')
        resolve(undefined)
        await never()
      })
    })
    say('all open')
  }
  const file = tempFile(t)
  assert.deepEqual(await run(t, main, file), ['1', 'all open'])
  const db = await Database.open(file)
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 5 }])
  await db.close()
})

// G218
test('a transaction of begin that is left open does not keep the process alive, and is rolled back', async (t) => {
  async function main({ Database, say }: Tools, file: string) {
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x)')
    const tx = await db.begin({ timeout: 1_000_000_000 })
    await tx.execute('INSERT INTO t VALUES (1)')
    process.on('exit', () => say(String(tx.open)))
  }
  const file = tempFile(t)
  assert.deepEqual(await run(t, main, file), ['true'])
  const db = await Database.open(file)
  assert.deepEqual(await db.select('SELECT x FROM t'), [])
  await db.close()
})

// G86
test('a transaction or a snapshot whose body never ends keeps the process alive until its timeout, so that it is told', async (t) => {
  async function main({ Database, say, never }: Tools, file: string) {
    const db = await Database.open(file)
    const tell = ({ code }: { code: string }) => say(code)
    const timeout = 100
    await db.transaction(never, { timeout }).catch(tell)
    await db.transaction((tx) => tx.transaction(never, { timeout })).catch(tell)
    await db.snapshot(never, { timeout }).catch(tell)
  }
  assert.deepEqual(await run(t, main, tempFile(t)), Array(3).fill('RESQLITE_TIMEOUT'))
})

// G82
test('a request in flight keeps the process alive until it is answered', async (t) => {
  async function main({ Database, say, count }: Tools, file: string) {
    const db = await Database.open(file)
    void db.select(`SELECT max(x) AS m FROM (${count(300_000)})`).then(([row]) => say(row?.m as number))
    void db.exec('CREATE TABLE t(x)').then(() => say('created'))
    void db.close().then(() => say('closed'))
  }
  const lines = await run(t, main, tempFile(t))
  assert.deepEqual([...lines].sort(), ['300000', 'closed', 'created'])
  assert.equal(lines[2], 'closed')
})

// G94
test('import works from an ES module', () => {
  const script = `
    import { Database } from 'resqlite'
    import { createRequire } from 'node:module'
    const required = createRequire(process.cwd() + '/x.js')('resqlite')
    const db = await Database.open(':memory:')
    console.log((await db.selectOne('SELECT 5 AS x')).x, Database === required.Database)
    await db.close()`
  assert.equal(runChild(script, [], 'module'), '5 true')
})

/** Work of every kind, all of which takes time. */
async function manyInFlight(
  { Database, count, endless, never, turn, say }: Tools,
  file: string,
  end: string,
) {
  const db = await Database.open(file)
  await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (0)')
  const ignore = () => {}
  void db.select(endless).catch(ignore)
  void db.select(count(100_000_000)).catch(ignore)
  void db.selectBytes(count(1_000_000)).catch(ignore)
  void db.iterate(count(1_000_000)).next().catch(ignore)
  void db.snapshot(never).catch(ignore)
  await new Promise((resolve) => {
    void db
      .transaction(async (tx) => {
        await tx.execute('UPDATE t SET x = 1')
        resolve(undefined)
        await tx.execute(`INSERT INTO t ${endless}`)
      })
      .catch(ignore)
  })
  for (let i = 0; i < 100; i++) void db.execute('UPDATE t SET x = 2').catch(ignore)
  void db.executeBatch('INSERT INTO t VALUES (?)', Array(100_000).fill(['x'])).catch(ignore)
  await turn()
  say('busy')
  if (end === 'throw') throw new Error('the end of it')
  if (end === 'at a reply') void db.diagnostics().then(() => process.exit(7))
  else process.exit(7)
}

async function stateAfter(file: string): Promise<unknown> {
  const db = await Database.open(file)
  const rows = await db.select('SELECT x FROM t')
  assert.deepEqual(await db.select('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  await db.close()
  return rows
}

for (const end of ['at once', 'at a reply']) {
  // G83
  test(`process.exit ${end} with work in flight exits with its code, and the open transaction is undone`, async (t) => {
    const file = tempFile(t)
    const ending = await start(t, manyInFlight, file, end).ended
    assert.deepEqual(ending, { code: 7, signal: null, lines: ['busy'], errors: '' })
    assert.deepEqual(await stateAfter(file), [{ x: 0 }])
  })
}

// G83
test('an uncaught exception with work in flight ends the process with code 1 and its message', async (t) => {
  const file = tempFile(t)
  const { errors, ...ending } = await start(t, manyInFlight, file, 'throw').ended
  assert.deepEqual(ending, { code: 1, signal: null, lines: ['busy'] })
  assert.match(errors, /Error: the end of it/)
  assert.deepEqual(await stateAfter(file), [{ x: 0 }])
})

test('an uncaught exception in the body of a transaction that is not awaited ends the process', async (t) => {
  async function main({ Database }: Tools, file: string) {
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (0)')
    void db.transaction(async (tx) => {
      await tx.execute('UPDATE t SET x = 1')
      throw new Error('the end of it')
    })
  }
  const file = tempFile(t)
  const { code, errors } = await start(t, main, file).ended
  assert.equal(code, 1)
  assert.match(errors, /Error: the end of it/)
  assert.deepEqual(await stateAfter(file), [{ x: 0 }])
})

// G83
test('calls in an exit handler do no harm', async (t) => {
  async function main({ Database, say }: Tools, file: string) {
    const db = await Database.open(file)
    process.on('exit', () => {
      void db.select('SELECT 1')
      void db.execute('CREATE TABLE u(x)')
      say('exit handler')
    })
    await db.exec('CREATE TABLE t(x)')
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['exit handler'])
})

test('close with work in flight: reads finish, writes are done or refused as they said', async (t) => {
  async function main({ Database, say, count }: Tools, file: string) {
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x)')
    const reads = Promise.allSettled(Array.from({ length: 50 }, () => db.select(count(10_000))))
    const writes = Promise.allSettled(
      Array.from({ length: 500 }, (_, i) =>
        i % 5 === 4
          ? db.transaction((tx) => tx.execute('INSERT INTO t VALUES (?)', [i]))
          : db.execute('INSERT INTO t VALUES (?)', [i]),
      ),
    )
    await Promise.all([db.close(), db.close()])
    const complete = (await reads).filter(
      (read) => read.status === 'fulfilled' && read.value.length === 10_000,
    )
    say(complete.length)
    const done = (await writes).flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
    const again = await Database.open(file)
    const there = await again.select('SELECT x FROM t ORDER BY x', [], { arrays: true })
    say(String(there.flat().join() === done.join()))
    await again.close()
    await again.close()
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['50', 'true'])
})

// G85
test('databases that are dropped without close are collected without a crash', async (t) => {
  async function main({ Database, say, count, turn }: Tools, folder: string, rounds: number) {
    const gc = globalThis.gc as () => void
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < 5; i++) {
        const db = await Database.open(i === 0 ? ':memory:' : `${folder}-${i}`)
        await db.exec('CREATE TABLE IF NOT EXISTS t(x)')
        await db.execute('INSERT INTO t VALUES (1)')
        void db.select(count(2000))
        void db.iterate(count(100_000)).next()
      }
      await turn()
      gc()
    }
    say('done')
  }
  const child = startWith(t, ['--expose-gc'], main, tempFile(t), 4 + throws(16))
  assert.deepEqual(await child.output(), ['done'])
})

// G85
test('rows and bytes stay intact when all that led to them is collected', async (t) => {
  async function main({ Database, say, count }: Tools) {
    const gc = globalThis.gc as () => void
    const results = await (async () => {
      const db = await Database.open(':memory:')
      const text = `SELECT x, 'text ' || x AS t, CAST('blob ' || x AS BLOB) AS b FROM (${count(5000)})`
      const all = [await db.select(text), await db.selectBytes(`SELECT x FROM (${count(5000)})`)] as const
      await db.close()
      return all
    })()
    for (let i = 0; i < 5; i++) gc()
    const [rows, bytes] = results
    const intact = rows.every(({ x, t, b }) => t === `text ${x}` && String(b) === `blob ${x}`)
    say(`${rows.length} ${intact} ${JSON.parse(String(bytes)).length}`)
  }
  assert.deepEqual(await startWith(t, ['--expose-gc'], main).output(), ['5000 true 5000'])
})
