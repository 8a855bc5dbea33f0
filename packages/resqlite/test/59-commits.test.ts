import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type CommitEvent, Database } from 'resqlite'
import { withCode } from './support/errors'
import { random } from './support/random'
import { tempDatabase, tempFolder } from './support/temp'

const SCHEMA =
  'CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE u(k TEXT PRIMARY KEY, v) WITHOUT ROWID'

/** The tables of an event, as short as possible: inserted, updated and deleted rows by table. */
function counts({ tables }: CommitEvent): unknown {
  if (tables === null) return null
  return Object.fromEntries(
    tables.map(({ schema, table, inserted, updated, deleted }) => {
      return [schema === 'main' ? table : `${schema}.${table}`, [inserted, updated, deleted]]
    }),
  )
}

/** Starts listening, and returns a function that runs something and gives the event that it causes. */
async function listening(db: Database) {
  const events = db.commits()
  const ask = () => {
    const next = events.next()
    next.catch(() => {}) // the last one is rejected when the database is closed
    return next
  }
  let next = ask()
  return async (run: () => Promise<unknown>): Promise<CommitEvent> => {
    await run()
    const { value } = await next
    next = ask()
    return value
  }
}

test('an event has the number of the commit and the rows by table', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const event = await listening(db)
  let commit = 0
  const told = await event(async () => {
    commit = (await db.execute("INSERT INTO t(v) VALUES ('a'), ('b')")).commit
  })
  assert.deepEqual(told, {
    from: commit,
    to: commit,
    external: false,
    schemaChanged: false,
    truncated: false,
    tables: [{ schema: 'main', table: 't', inserted: 2, updated: 0, deleted: 0 }],
  })
  assert.deepEqual(counts(await event(() => db.execute('UPDATE t SET v = 1 WHERE id = 1'))), { t: [0, 1, 0] })
  assert.deepEqual(counts(await event(() => db.execute('DELETE FROM t'))), { t: [0, 0, 2] })
  assert.deepEqual(counts(await event(() => db.execute("INSERT INTO u VALUES ('x', 1)"))), { u: [1, 0, 0] })
})

// G253
test('reads see the commit of an event', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const events = db.commits()
  for (let i = 1; i <= 50; i++) {
    const next = events.next()
    void db.execute('INSERT INTO t(v) VALUES (?)', [i])
    await next
    assert.ok((await db.selectOne<{ n: number }>('SELECT count(*) AS n FROM t'))?.n === i)
  }
  await events.return()
})

// G253
test('work that is undone is not reported', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const event = await listening(db)
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.execute("INSERT INTO t(v) VALUES ('gone')")
      throw new Error('rolled back')
    }),
  )
  const told = await event(() =>
    db.transaction(async (tx) => {
      await tx.execute("INSERT INTO u VALUES ('kept', 1)")
      const nested = tx.transaction(async (inner) => {
        await inner.execute("INSERT INTO t(v) VALUES ('gone')")
        throw new Error('undone')
      })
      await assert.rejects(nested)
    }),
  )
  assert.deepEqual(counts(told), { u: [1, 0, 0] })
})

test('what triggers change is reported', async (t) => {
  const db = await tempDatabase(
    t,
    `${SCHEMA};
    CREATE TRIGGER copy AFTER INSERT ON t BEGIN INSERT INTO u VALUES (new.v, new.id); END`,
  )
  const event = await listening(db)
  const told = await event(() => db.execute("INSERT INTO t(v) VALUES ('a'), ('b')"))
  assert.deepEqual(counts(told), { t: [2, 0, 0], u: [2, 0, 0] })
})

test('changes of the schema are reported as such', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const event = await listening(db)
  assert.equal((await event(() => db.execute('CREATE TABLE w(x)'))).schemaChanged, true)
  const told = await event(() => db.exec('VACUUM'))
  assert.equal(told.tables, null)
})

test('tables of attached databases are reported with their schema', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await db.exec(`ATTACH '${join(tempFolder(t), 'other.db')}' AS other; CREATE TABLE other.t(x)`)
  const event = await listening(db)
  // What was attached since the last look for external commits may count as one of them.
  let told: CommitEvent
  do told = await event(() => db.execute('INSERT INTO other.t VALUES (1)'))
  while (told.external)
  assert.deepEqual(counts(told), { 'other.t': [1, 0, 0] })
})

// G254
test('a slow consumer gets all commits of the meantime as one event', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const event = await listening(db)
  const first = await event(() => db.execute('INSERT INTO t(v) VALUES (0)'))
  const events = db.commits()
  const waiting = events.next()
  await db.execute('INSERT INTO t(v) VALUES (1)')
  assert.equal((await waiting).value.from, first.to + 1)
  const { seed, int } = random()
  let [inserted, updated, commits] = [0, 0, 0]
  const transactions = Array.from({ length: 500 }, () => {
    if (int(2) === 0) {
      inserted++
      return db.transaction((tx) => tx.execute('INSERT INTO t(v) VALUES (1)'))
    }
    updated++
    return db.transaction((tx) =>
      tx.execute("INSERT INTO u VALUES ('k', 0) ON CONFLICT DO UPDATE SET v = v + 1"),
    )
  })
  await Promise.all(transactions)
  commits = transactions.length
  const merged = (await events.next()).value
  assert.equal(merged.to - merged.from + 1, commits, `seed ${seed}`)
  const upserts = updated === 0 ? {} : { u: [1, updated - 1, 0] }
  assert.deepEqual(counts(merged), { t: [inserted, 0, 0], ...upserts }, `seed ${seed}`)
  await events.return()
})

// G253
test('every commit is in exactly one event, in order', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const ranges: CommitEvent[] = []
  let rows = 0
  const { promise, resolve } = deferred()
  using _listening = db.onCommit((event) => {
    ranges.push(event)
    for (const { inserted } of event.tables ?? []) rows += inserted
    if (rows === 10_000) resolve()
    return new Promise((settle) => setImmediate(settle))
  })
  for (let i = 0; i < 10_000; i += 100) {
    await Promise.all(Array.from({ length: 100 }, () => db.execute('INSERT INTO t(v) VALUES (1)')))
  }
  await promise
  assert.ok(ranges.every(({ from }, i) => i === 0 || from === (ranges[i - 1] as CommitEvent).to + 1))
})

test('every Database of a file is told of the commits of all', async (t) => {
  const path = join(tempFolder(t), 'shared.db')
  const [one, two] = [await Database.open(path), await Database.open(path)]
  await one.exec(SCHEMA)
  const event = await listening(two)
  assert.deepEqual(counts(await event(() => one.execute('INSERT INTO t(v) VALUES (1)'))), { t: [1, 0, 0] })
  await Promise.all([one.close(), two.close()])
})

test('a read-only database is told of commits as external ones', async (t) => {
  const path = join(tempFolder(t), 'shared.db')
  const writer = await Database.open(path)
  await writer.exec(SCHEMA)
  const reader = await Database.open(path, { readOnly: true })
  const events = reader.commits()
  const next = events.next()
  await reader.select('SELECT 1')
  const { value } = await Promise.race([next, writing(writer, next)])
  assert.deepEqual([value.external, value.tables], [true, null])
  await Promise.all([reader.close(), writer.close()])
})

/** Writes until a promise has settled: the first look of the watcher only notes how things are. */
async function writing<T>(db: Database, until: Promise<T>): Promise<T> {
  let settled = false
  void until.finally(() => {
    settled = true
  })
  while (!settled) await db.execute('INSERT INTO t(v) VALUES (1)')
  return until
}

// G255
test('closing the database ends iterators with RESQLITE_CLOSED, and callbacks silently', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const events = db.commits()
  const rejected = assert.rejects(events.next(), withCode('RESQLITE_CLOSED'))
  db.onCommit(() => assert.fail('nothing was committed'))
  await db.close()
  await rejected
  assert.deepEqual(await events.next(), { value: undefined, done: true })
  assert.throws(() => db.commits(), withCode('RESQLITE_CLOSED'))
  assert.throws(() => db.onCommit(() => {}), withCode('RESQLITE_CLOSED'))
})

test('return and a signal end an iterator while a next waits', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const events = db.commits()
  const waiting = events.next()
  await events.return()
  assert.deepEqual(await waiting, { value: undefined, done: true })
  const controller = new AbortController()
  const aborted = assert.rejects(
    db.commits({ signal: controller.signal }).next(),
    withCode('RESQLITE_ABORTED'),
  )
  controller.abort()
  await aborted
})

test('after unsubscribe the callback is not called', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const stop = db.onCommit(() => assert.fail('it has ended'))
  const event = await listening(db)
  stop()
  await event(() => db.execute('INSERT INTO t(v) VALUES (1)'))
})

test('the number of an ended listener is used again without mixing frames', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  for (let i = 0; i < 200; i++) {
    const events = db.commits()
    const next = events.next()
    const write = db.execute('INSERT INTO t(v) VALUES (1)')
    if (i % 2 === 0) await next
    await events.return()
    assert.deepEqual(await db.select('SELECT 7 AS seven'), [{ seven: 7 }])
    await write
  }
})

test('a callback that is no function and unknown options are refused', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  assert.throws(() => db.onCommit(1 as never), withCode('RESQLITE_OPTION', 'onCommit'))
  assert.throws(() => db.commits({ change: true } as never), withCode('RESQLITE_OPTION', '"change"'))
})

/** A promise that is resolved from outside. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
