import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Database } from 'resqlite'
import { withCode } from './support/errors'
import { run, start } from './support/process'
import type { Tools } from './support/process-tools'
import { throws } from './support/random'
import { openDatabase, tempDatabase } from './support/temp'

/** Inserts -1, and holds the write lock of the file until it gets a line. */
async function holdLock({ Database, say, hear }: Tools, file: string): Promise<void> {
  const db = await Database.open(file)
  await db.transaction(async (tx) => {
    await tx.execute('INSERT INTO t(x) VALUES (-1)')
    say('held')
    hear()
  })
  say('released')
  await db.close()
}

const TABLE = 'CREATE TABLE t(x); INSERT INTO t VALUES (0)'
const insert = 'INSERT INTO t(x) VALUES (?)'
const busy = withCode('SQLITE_BUSY', 'locked', 'busy timeout')

/** Whether a promise has settled, as far as this thread knows. */
function settled(promise: Promise<unknown>): () => boolean {
  let done = false
  const finish = () => {
    done = true
  }
  promise.then(finish, finish)
  return () => done
}

async function lockedDatabase(t: TestContext, options = {}) {
  const db = await tempDatabase(t, TABLE, { busyTimeout: 600_000, ...options })
  const other = start(t, holdLock, db.path)
  assert.equal(await other.line(), 'held')
  return { db, other }
}

// G92
test('a write waits for a lock of another process and succeeds when it is released', async (t) => {
  const { db, other } = await lockedDatabase(t)
  const write = db.execute(insert, [1])
  const done = settled(write)
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 0 }])
  assert.equal(done(), false)
  other.tell()
  assert.equal((await write).changes, 1)
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 0 }, { x: -1 }, { x: 1 }])
  await other.output()
})

// G188
test('diagnostics tell which write waits for another process, and since when', async (t) => {
  const { db, other } = await lockedDatabase(t)
  const before = Date.now()
  const write = db.execute(insert, [1])
  let waiting = null
  while (waiting === null) waiting = (await db.diagnostics()).writer.waitingForLock
  assert.equal(waiting.sql, insert)
  assert.ok(waiting.since >= before && waiting.since <= Date.now())
  other.tell()
  await write
  assert.equal((await db.diagnostics()).writer.waitingForLock, null)
  await other.output()
})

// G32
test('reads of every kind go on while a write waits for another process', async (t) => {
  const { db, other } = await lockedDatabase(t)
  const done = settled(db.execute(insert, [1]))
  for (let i = 0; i < 100; i++) assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 0 }])
  assert.equal(String(await db.selectBytes('SELECT x FROM t')), '[{"x":0}]')
  assert.deepEqual(await db.snapshot((snap) => snap.selectOne('SELECT x FROM t')), { x: 0 })
  for await (const row of db.iterate('SELECT x FROM t')) assert.deepEqual(row, { x: 0 })
  assert.equal(done(), false)
  other.tell()
  await other.output()
})

// G92
test('a write that waits longer than busyTimeout fails with SQLITE_BUSY, which says so', async (t) => {
  const { db, other } = await lockedDatabase(t, { busyTimeout: 30 })
  await assert.rejects(db.execute(insert, [1]), busy)
  await assert.rejects(db.executeBatch(insert, [[1], [2]]), busy)
  await assert.rejects(db.exec('INSERT INTO t VALUES (1)'), busy)
  await assert.rejects(
    db.transaction(async () => assert.fail('must not run')),
    busy,
  )
  other.tell()
  await other.output()
  await db.execute(insert, [1])
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 0 }, { x: -1 }, { x: 1 }])
})

// G92
test('a write with busyTimeout 0 does not wait', async (t) => {
  const { db, other } = await lockedDatabase(t, { busyTimeout: 0 })
  const writes = Array.from({ length: 50 }, (_, i) => db.execute(insert, [i]))
  for (const write of writes) await assert.rejects(write, busy)
  other.tell()
  await other.output()
})

// G48
test('writes queued behind a lock keep their order', async (t) => {
  const { db, other } = await lockedDatabase(t)
  const writes = Array.from({ length: 100 }, async (_, i) => {
    if (i % 10 === 3) return await db.transaction((tx) => tx.execute(insert, [i]))
    if (i % 10 === 7) return await db.executeBatch(insert, [[i]])
    return await db.execute(insert, [i])
  })
  other.tell()
  await Promise.all(writes)
  const rows = await db.select('SELECT x FROM t WHERE rowid > 2 ORDER BY rowid', [], { arrays: true })
  assert.deepEqual(
    rows.map(([x]) => x),
    Array.from({ length: 100 }, (_, i) => i),
  )
})

// G77
test('a write that waits for another process can be cancelled', async (t) => {
  const { db, other } = await lockedDatabase(t)
  const controller = new AbortController()
  const { signal } = controller
  const aborted = withCode('RESQLITE_ABORTED')
  const waiting = [
    assert.rejects(db.execute(insert, [1], { signal }), aborted),
    assert.rejects(db.executeBatch(insert, [[1]], { signal }), aborted),
    assert.rejects(
      db.transaction(async () => assert.fail('must not run'), { signal }),
      aborted,
    ),
  ]
  await db.select('SELECT 1')
  controller.abort()
  await Promise.all(waiting)
  other.tell()
  await other.output()
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 0 }, { x: -1 }])
})

// G93
test('a lock goes with the process that is killed while it holds it', async (t) => {
  const { db, other } = await lockedDatabase(t)
  const write = db.execute(insert, [1])
  other.kill()
  await write
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 0 }, { x: 1 }])
})

// G93
test('what another process writes is seen by the next select', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const other = start(
    t,
    async ({ Database, say, hear }, file) => {
      const db = await Database.open(file)
      for (let i = 1; i <= 20; i++) {
        await db.execute('INSERT INTO t(x) VALUES (?)', [i])
        say('written')
        hear()
      }
    },
    db.path,
  )
  for (let i = 1; i <= 20; i++) {
    await other.line()
    assert.deepEqual(await db.selectOne('SELECT max(x) AS x FROM t'), { x: i })
    other.tell()
  }
  await other.output()
})

// G93
test('columns that another process adds are seen by statements used before', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.deepEqual(await db.select('SELECT * FROM t'), [{ x: 0 }])
  await run(
    t,
    async ({ Database }, file) => {
      const db = await Database.open(file)
      await db.exec("ALTER TABLE t ADD COLUMN y DEFAULT 'new'")
    },
    db.path,
  )
  assert.deepEqual(await db.select('SELECT * FROM t'), [{ x: 0, y: 'new' }])
})

// G93
test('three processes that count in one row lose no step', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE n(x); INSERT INTO n VALUES (0)')
  const steps = 15 + throws(85)
  async function step({ Database }: Tools, file: string, steps: number) {
    const db = await Database.open(file, { busyTimeout: 60_000 })
    const addOne = async () => {
      await db.execute('UPDATE n SET x = x + 1')
      await db.transaction(async (tx) => {
        const row = await tx.selectOne<{ x: number }>('SELECT x FROM n')
        await tx.execute('UPDATE n SET x = ?', [(row?.x ?? 0) + 1])
      })
    }
    for (let i = 0; i < steps; i++) await Promise.all([addOne(), addOne()])
  }
  await Promise.all([1, 2, 3].map(() => run(t, step, db.path, steps)))
  assert.deepEqual(await db.selectOne('SELECT x FROM n'), { x: 3 * steps * 4 })
})

// G7
test('a read-only database sees what another process writes', async (t) => {
  const writer = await tempDatabase(t, TABLE)
  const reader = start(
    t,
    async ({ Database, say, hear }, file) => {
      const db = await Database.open(file, { readOnly: true })
      for (let i = 0; i < 3; i++) {
        say(JSON.stringify(await db.select('SELECT x FROM t')))
        hear()
      }
    },
    writer.path,
  )
  assert.equal(await reader.line(), '[{"x":0}]')
  await writer.execute('UPDATE t SET x = 1')
  reader.tell()
  assert.equal(await reader.line(), '[{"x":1}]')
  await writer.exec('DELETE FROM t')
  reader.tell()
  assert.equal(await reader.line(), '[]')
  reader.tell()
  await reader.output()
})

test('closing does not wait for the lock longer than busyTimeout, and refuses or does what is queued', async (t) => {
  const { db, other } = await lockedDatabase(t, { busyTimeout: 100 })
  const writes = Promise.allSettled([1, 2, 3].map((x) => db.execute(insert, [x])))
  await db.close()
  for (const write of await writes) {
    assert.equal(write.status === 'rejected' && write.reason.code, 'SQLITE_BUSY')
  }
  other.tell()
  await other.output()
  const again = await openDatabase(t, db.path)
  assert.deepEqual(await again.select('SELECT x FROM t'), [{ x: 0 }, { x: -1 }])
})

test('opening a file that another process holds does not wait for it', async (t) => {
  const { db, other } = await lockedDatabase(t)
  await db.close()
  const again = await Database.open(db.path)
  assert.deepEqual(await again.select('SELECT x FROM t'), [{ x: 0 }])
  await again.close()
  other.tell()
  await other.output()
})

// G84
test('a thread can be terminated, and a process can exit, while their writes wait for another process', async (t) => {
  const { db, other } = await lockedDatabase(t)
  async function main({ Database, thread, posted, say, turn }: Tools, file: string) {
    async function write({ Database, post, turn }: Tools, file: string) {
      const db = await Database.open(file, { busyTimeout: 600_000 })
      for (let x = 1; x <= 10; x++) void db.execute('INSERT INTO t VALUES (?)', [x])
      void db.transaction((tx) => tx.execute('INSERT INTO t VALUES (11)'))
      await turn()
      post('waiting')
    }
    const worker = thread(write, file)
    await posted(worker)
    await worker.terminate()
    say('terminated')
    const db = await Database.open(file, { busyTimeout: 600_000 })
    void db.execute('INSERT INTO t VALUES (12)')
    await turn()
    process.exit(0)
  }
  assert.deepEqual(await run(t, main, db.path), ['terminated'])
  other.tell()
  await other.output()
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 0 }, { x: -1 }])
})
