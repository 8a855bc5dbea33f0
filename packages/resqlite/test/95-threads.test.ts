import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from 'resqlite'
import { run, start } from './support/process'
import type { Script, Tools } from './support/process-tools'
import { throws } from './support/random'
import { tempFile } from './support/temp'

// G91
test('threads share one engine: all writes are there, and none finds the file busy', async (t) => {
  async function main({ Database, thread, posted, say }: Tools, file: string) {
    async function worker({ Database, post, never }: Tools, file: string, first: number) {
      const db = await Database.open(file, { busyTimeout: 0 })
      const keepsAlive = setInterval(never, 1e6)
      post('open')
      for (let i = 0; i < 500; i += 10) {
        await Promise.all(
          Array.from({ length: 10 }, (_, j) => db.execute('INSERT INTO t VALUES (?)', [first + i + j])),
        )
        await db.transaction((tx) => tx.execute('UPDATE n SET x = x + 1'))
      }
      post('written')
      require('node:worker_threads').parentPort.once('message', async () => {
        await db.close()
        clearInterval(keepsAlive)
      })
    }
    const db = await Database.open(file, { busyTimeout: 0 })
    await db.exec('CREATE TABLE t(x PRIMARY KEY); CREATE TABLE n(x); INSERT INTO n VALUES (0)')
    const threads = [thread(worker, file, 1000), thread(worker, file, 2000)]
    await Promise.all(threads.map(posted))
    say((await db.diagnostics()).handles)
    const written = threads.map(posted)
    for (let i = 0; i < 500; i++) await db.execute('INSERT INTO t VALUES (?)', [i])
    await Promise.all(written)
    say(JSON.stringify(await db.selectOne('SELECT count(*) AS rows, (SELECT x FROM n) AS n FROM t')))
    for (const thread of threads) {
      thread.postMessage('end')
      await new Promise((resolve) => thread.once('exit', resolve))
    }
    say((await db.diagnostics()).handles)
    await db.close()
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['3', '{"rows":1500,"n":100}', '1'])
})

/** Activities in the middle of which a thread is terminated. Each posts a message when it is under way. */
const activities: Record<string, Script<[string]>> = {
  'a query': async ({ Database, post, endless, turn }, file) => {
    const db = await Database.open(file)
    for (let i = 0; i < 10; i++) void db.select(endless)
    await turn()
    post('there')
  },
  'a result larger than what may wait for it': async ({ Database, post, count }, file) => {
    const db = await Database.open(file)
    for (let i = 0; i < 3; i++) void db.select(count(100_000_000))
    for (let i = 0; i < 10; i++) await db.execute('UPDATE t SET x = 0')
    post('there')
  },
  'a transaction': async ({ Database, post, never }, file) => {
    const db = await Database.open(file)
    await db.transaction(async (tx) => {
      await tx.execute('INSERT INTO t VALUES (1)')
      post('there')
      await never()
    })
  },
  'a statement of a transaction': async ({ Database, post, endless }, file) => {
    const db = await Database.open(file)
    await db.transaction(async (tx) => {
      await tx.execute('INSERT INTO t VALUES (1)')
      const running = tx.execute(`INSERT INTO t ${endless}`)
      post('there')
      await running
    })
  },
  'a write': async ({ Database, post, endless, turn }, file) => {
    const db = await Database.open(file)
    void db.execute(`INSERT INTO t ${endless}`)
    await turn()
    post('there')
  },
  'queued transactions': async ({ Database, post, never }, file) => {
    const db = await Database.open(file)
    for (let i = 0; i < 100; i++) {
      void db.transaction(async (tx) => {
        await tx.execute('INSERT INTO t VALUES (1)')
        post('there')
        await never()
      })
    }
  },
  iterate: async ({ Database, post, count }, file) => {
    const db = await Database.open(file)
    const open = Array.from({ length: 5 }, () => db.iterate(count(10_000_000)))
    for (const iterator of open) await iterator.next()
    post('there')
  },
  'a snapshot': async ({ Database, post, never }, file) => {
    const db = await Database.open(file)
    await db.snapshot(async (snapshot) => {
      await snapshot.select('SELECT * FROM t')
      post('there')
      await never()
    })
  },
  'live queries': async ({ Database, post }, file) => {
    const db = await Database.open(file)
    for await (const _ of db.stream('SELECT x FROM t')) {
      post('there')
      void db.execute('UPDATE t SET x = x + 1')
    }
  },
  'an executeBatch': async ({ Database, post }, file) => {
    const db = await Database.open(file)
    function* sets() {
      for (let i = 0; ; i++) {
        // By then the writer has been given several frames.
        if (i === 2000) post('there')
        yield [`${i}`.padEnd(200)]
      }
    }
    await db.executeBatch('INSERT INTO t VALUES (?)', sets())
  },
  'an executeBatch whose parameters take their time': async ({ Database, post }, file) => {
    const db = await Database.open(file)
    function* sets() {
      // Few and large writes, so that the writer soon has all of them and waits for more.
      for (let i = 0; i < 20; i++) yield ['x'.repeat(16_000)]
      post('there')
      for (;;);
    }
    await db.executeBatch('INSERT INTO t VALUES (?)', sets())
  },
  opening: async ({ Database, post }, file) => {
    for (let i = 0; i < 10; i++) void Database.open(file)
    post('there')
  },
  closing: async ({ Database, post, count }, file) => {
    const db = await Database.open(file)
    void db.select(count(1_000_000))
    void db.close()
    post('there')
  },
}

/** One process has both tests of an activity, since a process takes longer than they do. */
async function main(
  { Database, thread, posted, turn, say }: Tools,
  files: readonly string[],
  script: string,
  rounds: number,
) {
  const [file, other] = files as [string, string]
  // biome-ignore lint/security/noGlobalEval: it is the source text of a function of this file
  const start = (file: string) => thread(eval(script), file)
  const db = await Database.open(file)
  for (let i = 0; i < rounds; i++) {
    const worker = start(file)
    await posted(worker)
    const inFlight = db.select('SELECT x FROM t')
    await worker.terminate()
    await inFlight
  }
  await db.execute('UPDATE t SET x = 7')
  say(JSON.stringify(await db.select('SELECT x FROM t')))
  for (;;) {
    const { handles, leases, readers, writer, streams } = await db.diagnostics()
    const left = leases.open + leases.queued + readers.queued + writer.queued + streams.open
    if (handles === 1 && left === 0) break
    await turn()
  }
  await db.close()
  say('nothing is left')

  const worker = start(other)
  await posted(worker)
  await worker.terminate()
  const again = await Database.open(other)
  await again.execute('UPDATE t SET x = 7')
  say(JSON.stringify(await again.select('SELECT x FROM t')))
  await again.close()
}

for (const [activity, script] of Object.entries(activities)) {
  test(`a thread that is terminated in ${activity}`, async (t) => {
    const files = [tempFile(t), tempFile(t)]
    for (const file of files) {
      const db = await Database.open(file)
      await db.exec('CREATE TABLE t(x); INSERT INTO t VALUES (0)')
      await db.close()
    }
    const child = start(t, main, files, `(${script})`, throws(3))
    // G84
    await t.test('leaves nothing behind, and others continue', async () => {
      assert.equal(await child.line(), '[{"x":7}]')
      assert.equal(await child.line(), 'nothing is left')
    })
    // G84
    await t.test('closes the file if nothing else has it open', async () => {
      assert.equal(await child.line(), '[{"x":7}]')
    })
    await child.output()
  })
}

// G84
test('threads that exit by themselves with work in flight', async (t) => {
  async function main({ Database, thread, say }: Tools, file: string, rounds: number) {
    async function worker({ Database, count }: Tools, file: string) {
      const db = await Database.open(file)
      await db.execute('INSERT INTO t VALUES (1)')
      for (let i = 0; i < 20; i++) {
        void db.execute('INSERT INTO t VALUES (2)')
        void db.select(count(100_000))
        void db.transaction((tx) => tx.select('SELECT * FROM t'))
        void db.iterate(count(100_000)).next()
      }
      setImmediate(() => process.exit())
    }
    const db = await Database.open(file)
    await db.exec('CREATE TABLE t(x)')
    for (let i = 0; i < rounds; i++) {
      const threads = [1, 2, 3].map(() => thread(worker, file))
      await Promise.all(threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve))))
    }
    say((await db.selectOne<{ n: number }>('SELECT count(*) AS n FROM t WHERE x = 1'))?.n ?? 0)
    await db.close()
  }
  const rounds = throws(10)
  assert.deepEqual(await run(t, main, tempFile(t), rounds), [`${3 * rounds}`])
})

test('a thread that dies of an error with work in flight affects no other', async (t) => {
  async function main({ Database, thread, say }: Tools, file: string) {
    async function worker({ Database, count }: Tools, file: string) {
      const db = await Database.open(file)
      void db.select(count(1_000_000))
      void db.transaction(async (tx) => {
        await tx.execute('CREATE TABLE u(x)')
        throw new Error('the end of it')
      })
    }
    const db = await Database.open(file)
    const dying = thread(worker, file)
    const error = await new Promise<Error>((resolve) => dying.once('error', resolve))
    say(error.message)
    say((await db.select("SELECT name FROM sqlite_schema WHERE name = 'u'")).length)
    await db.close()
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['the end of it', '0'])
})

test('threads load the native module first, one after another, while the main thread never does', async (t) => {
  async function main({ thread, posted, say }: Tools) {
    async function worker({ Database, post }: Tools) {
      const db = await Database.open(':memory:')
      post((await db.selectOne<{ x: number }>('SELECT 5 AS x'))?.x ?? 0)
    }
    for (let i = 0; i < 3; i++) {
      const one = thread(worker)
      const ended = new Promise((resolve) => one.once('exit', resolve))
      say(`${await posted(one)} ${await ended}`)
    }
  }
  assert.deepEqual(await run(t, main), ['5 0', '5 0', '5 0'])
})

// G84
test('the main thread exits while threads have work in flight', async (t) => {
  async function main({ thread, posted, say }: Tools, file: string) {
    async function worker({ Database, post, endless, count, turn }: Tools, file: string) {
      const db = await Database.open(file)
      void db.select(endless)
      void db.select(count(100_000_000))
      void db.execute('CREATE TABLE IF NOT EXISTS t(x)')
      await turn()
      post('there')
    }
    await Promise.all([1, 2, 3].map(() => posted(thread(worker, file))))
    say('bye')
    process.exit(0)
  }
  assert.deepEqual(await run(t, main, tempFile(t)), ['bye'])
})
