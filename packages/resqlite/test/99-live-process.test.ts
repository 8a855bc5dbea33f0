import assert from 'node:assert/strict'
import { readdirSync, readlinkSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Watch } from './support/live'
import { run, start, startWith } from './support/process'
import type { Tools } from './support/process-tools'
import { throws } from './support/random'
import { openDatabase, tempFile } from './support/temp'

const onlyLinux = process.platform === 'linux' ? false : 'files rest on Linux only'

// G132
test('a subscription keeps the process alive until it ends', async (t) => {
  async function main({ Database, say }: Tools, file: string) {
    const db = await Database.open(file)
    process.once('beforeExit', () => say('nothing left to do'))
    const stop = db.stream('SELECT count(*) AS n FROM t').subscribe(([row]) => {
      say(row?.n as number)
      if (row?.n === 1) stop()
    })
  }
  const file = tempFile(t)
  const db = await openDatabase(t, file)
  await db.exec('CREATE TABLE t(x)')
  const child = start(t, main, file)
  assert.equal(await child.line(), '0')
  await db.execute('INSERT INTO t VALUES (1)')
  assert.deepEqual(await child.output(), ['0', '1', 'nothing left to do'])
})

// G132
test('a live query without subscribers keeps nothing alive', async (t) => {
  async function main({ Database, say }: Tools, file: string) {
    const db = await Database.open(file)
    const live = db.stream('SELECT 1 AS x')
    for await (const [row] of live) {
      say(row?.x as number)
      break
    }
    live.subscribe(() => {})()
    live[Symbol.asyncIterator]()
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['1'])
})

for (const how of ['at once', 'in a callback']) {
  // G132
  test(`process.exit ${how} with open live queries ends with its code`, async (t) => {
    async function main({ Database, say }: Tools, file: string, how: string) {
      const db = await Database.open(file)
      await db.exec('CREATE TABLE t(x)')
      for (let i = 0; i < 50; i++) db.stream('SELECT x FROM t WHERE x = ?', [i]).subscribe(() => {})
      for (let i = 0; i < 100; i++) void db.execute('INSERT INTO t VALUES (?)', [i % 50])
      db.stream('SELECT count(*) AS n FROM t').subscribe(() => {
        say('told')
        process.exit(7)
      })
      if (how === 'at once') process.exit(7)
    }
    const { code, errors } = await start(t, main, tempFile(t), how).ended
    assert.deepEqual({ code, errors }, { code: 7, errors: '' })
  })
}

test('an error that a callback throws ends the process like any uncaught exception', async (t) => {
  async function main({ Database }: Tools, file: string) {
    const db = await Database.open(file)
    db.stream('SELECT 1').subscribe(() => {
      throw new Error('the end of it')
    })
  }
  const { code, errors } = await start(t, main, tempFile(t)).ended
  assert.equal(code, 1)
  assert.match(errors, /Error: the end of it/)
})

test('an error without an error callback ends the process and says where the subscription was made', async (t) => {
  async function main({ Database }: Tools, file: string) {
    const db = await Database.open(file)
    function whereItIsSubscribed() {
      db.stream('SELECT nope').subscribe(() => {})
    }
    whereItIsSubscribed()
  }
  const { code, errors } = await start(t, main, tempFile(t)).ended
  assert.equal(code, 1)
  assert.match(errors, /SqliteError: no such column: nope/)
  assert.match(errors, /whereItIsSubscribed/)
})

test('an uncaught exception that is handled does not affect the other subscribers', async (t) => {
  async function main({ Database, say }: Tools, file: string) {
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x)')
    process.on('uncaughtException', (error) => say(error.message))
    const live = db.stream('SELECT count(*) AS n FROM t')
    const stops = [
      live.subscribe(() => {
        throw new Error('mine')
      }),
      live.subscribe(([row]) => {
        say(row?.n as number)
        if (row?.n === 1) for (const stop of stops) stop()
        else void db.execute('INSERT INTO t VALUES (1)')
      }),
    ]
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['0', 'mine', '1', 'mine'])
})

// G132
test('threads that are terminated with open live queries leave nothing behind, and others continue', async (t) => {
  async function main({ Database, thread, posted, turn, say }: Tools, file: string, rounds: number) {
    async function worker({ Database, post }: Tools, file: string) {
      const db = await Database.open(file)
      for (let i = 0; i < 20; i++) db.stream('SELECT x FROM t WHERE x <> ?', [i]).subscribe(() => {})
      for await (const _ of db.stream('SELECT x FROM t')) {
        post('there')
        await db.execute('UPDATE t SET x = x + 1')
      }
    }
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x)')
    await db.executeBatch(
      'INSERT INTO t VALUES (?)',
      Array.from({ length: 2000 }, (_, i) => [i]),
    )
    for (let i = 0; i < rounds; i++) {
      const workers = [thread(worker, file), thread(worker, file)]
      await Promise.all(workers.map((worker) => posted(worker)))
      await Promise.all(workers.map((worker) => worker.terminate()))
    }
    for (;;) {
      const { handles, streams, readers } = await db.diagnostics()
      if (handles === 1 && streams.open + streams.running + streams.queued + readers.busy === 0) break
      await turn()
    }
    const stop = db.stream('SELECT count(*) AS n FROM t').subscribe(([row]) => {
      say(row?.n as number)
      if (row?.n === 2000) void db.execute('DELETE FROM t')
      else stop()
    })
  }
  assert.deepEqual(await run(t, main, tempFile(t), throws(5)), ['2000', '0'])
})

test('the main thread exits while threads have open live queries', async (t) => {
  async function main({ thread, posted, say }: Tools, file: string) {
    async function worker({ Database, post }: Tools, file: string) {
      const db = await Database.open(file)
      await db.exec('CREATE TABLE IF NOT EXISTS t(x)')
      for await (const _ of db.stream('SELECT count(*) FROM t')) {
        post('there')
        void db.execute('INSERT INTO t VALUES (1)')
      }
    }
    await Promise.all([1, 2, 3].map(() => posted(thread(worker, file))))
    say('bye')
    process.exit(0)
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['bye'])
})

test('databases and live queries that are dropped while in use are collected without a crash', async (t) => {
  async function main({ Database, say, turn }: Tools, rounds: number) {
    const gc = globalThis.gc as () => void
    for (let round = 0; round < rounds; round++) {
      const db = await Database.open(':memory:')
      await db.exec('CREATE TABLE t(x)')
      const stops = [1, 2, 3].map((x) => db.stream('SELECT ? AS x FROM t', [x]).subscribe(() => {}))
      await db.execute('INSERT INTO t VALUES (1)')
      for (const stop of stops) stop()
      await turn()
      gc()
    }
    say('done')
  }
  assert.deepEqual(await startWith(t, ['--expose-gc'], main, throws(30)).output(), ['done'])
})

test('values arrive the same where native memory must not be shown to JavaScript', async (t) => {
  async function main({ Database, say }: Tools) {
    const db = await Database.open(':memory:')
    await db.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB)')
    const sets = Array.from({ length: 1500 }, (_, i) => [`text ${i} – ü`.repeat(8), Buffer.alloc(50, i)])
    await db.executeBatch('INSERT INTO t(a, b) VALUES (?, ?)', sets)
    const sql = 'SELECT * FROM t ORDER BY a, id'
    let emissions = 0
    for await (const rows of db.stream(sql)) {
      const same = require('node:util').isDeepStrictEqual(rows, await db.select(sql))
      say(`${rows.length} rows, the same: ${same}`)
      if (++emissions === 2) break
      await db.exec("DELETE FROM t WHERE id % 3 = 0; UPDATE t SET a = a || '!' WHERE id % 2 = 0")
    }
    await db.close()
  }
  process.env.RESQLITE_COPY_RESULTS = '1'
  const child = startWith(t, [], main)
  delete process.env.RESQLITE_COPY_RESULTS
  assert.deepEqual(await child.output(), ['1500 rows, the same: true', '1000 rows, the same: true'])
})

/** Starts another process. For each line that it gets, it writes as many rows as the line says. */
async function otherWriter({ Database, say, hear }: Tools, file: string) {
  const db = await Database.open(file)
  for (let line = hear(); line !== ''; line = hear()) {
    await db.execute('INSERT INTO t VALUES (?)', [Number(line)])
    say('written')
  }
  await db.close()
}

// G119
test('commits of another process are seen', async (t) => {
  const file = tempFile(t)
  const db = await openDatabase(t, file)
  await db.exec('CREATE TABLE t(x)')
  const watching = new Watch(db.stream('SELECT sum(x) AS sum FROM t'))
  await watching.next()
  const other = start(t, otherWriter, file)
  for (const [line, sum] of [
    [5, 5],
    [7, 12],
  ] as const) {
    other.tell(String(line))
    assert.deepEqual(await watching.value(), [{ sum }])
  }
  assert.ok((await db.diagnostics()).streams.externalCommits > 0)
})

// G386
test('commits of another process are seen while the file rests', { skip: onlyLinux }, async (t) => {
  const file = tempFile(t)
  const db = await openDatabase(t, file, { rest: 50 })
  await db.exec('CREATE TABLE t(x)')
  const watching = new Watch(db.stream('SELECT sum(x) AS sum FROM t'))
  await watching.next()
  for (let sum = 1; sum <= 3; sum++) {
    while (isOpenHere(file)) await sleep(5)
    const other = start(t, otherWriter, file)
    other.tell('1')
    assert.deepEqual(await watching.value(), [{ sum }])
    other.tell('')
    await other.ended
  }
})

/** Whether this process has a file open. */
function isOpenHere(file: string): boolean {
  return readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(file)
    } catch {
      return false // it has been closed meanwhile
    }
  })
}

// G119
test('a live query of a read-only database sees the commits of another process', async (t) => {
  const file = tempFile(t)
  const writer = await openDatabase(t, file)
  await writer.exec('CREATE TABLE t(x)')
  await writer.close()
  const db = await openDatabase(t, file, { readOnly: true })
  const watching = new Watch(db.stream('SELECT x FROM t'))
  assert.deepEqual(await watching.value(), [])
  start(t, otherWriter, file).tell('5')
  assert.deepEqual(await watching.value(), [{ x: 5 }])
})

// G119
test('with watchExternal off, commits of another process are seen at the next re-run', async (t) => {
  const file = tempFile(t)
  const db = await openDatabase(t, file, { watchExternal: false })
  await db.exec('CREATE TABLE t(x)')
  const watching = new Watch(db.stream('SELECT sum(x) AS sum FROM t'))
  await watching.next()
  const other = start(t, otherWriter, file)
  other.tell('5')
  await other.line()
  await db.execute('INSERT INTO t VALUES (100)')
  assert.deepEqual(await watching.value(), [{ sum: 105 }])
  assert.equal((await db.diagnostics()).streams.externalCommits, 0)
})

// G133
test('a stalled iterator of a live query that changes all the time holds one result', async (t) => {
  async function main({ Database, say }: Tools) {
    const gc = globalThis.gc as () => void
    const db = await Database.open(':memory:')
    await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (0)')
    const live = db.stream('SELECT x, hex(zeroblob(100000)) || x AS text FROM t')
    const [stalled, changes] = [live[Symbol.asyncIterator](), live.patches({ key: 'x' })]
    await Promise.all([stalled.next(), changes.next()])
    const busy = live[Symbol.asyncIterator]()
    await busy.next()
    gc()
    const before = process.memoryUsage()
    for (let i = 1; i <= 150; i++) {
      await db.execute('UPDATE t SET x = ?', [i])
      while ((await busy.next()).value[0].x !== i);
    }
    gc()
    const after = process.memoryUsage()
    say(after.heapUsed + after.external - before.heapUsed - before.external)
    say((await stalled.next()).value[0].x)
    say((await changes.next()).value.rows[0].x)
    process.exit()
  }
  const [grown, ...latest] = await startWith(t, ['--expose-gc'], main).output()
  assert.deepEqual(latest, ['150', '150'])
  assert.ok(Number(grown) < 10 * 1024 * 1024, `grew by ${grown} bytes`)
})
