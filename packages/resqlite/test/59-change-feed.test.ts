import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  type ChangeEvent,
  type ChangeFeed,
  type ChangeFeedOptions,
  Database,
  type FeedCommit,
} from 'resqlite'
import { withCode } from './support/errors'
import { run } from './support/process'
import type { Tools } from './support/process-tools'
import { openDatabase, tempDatabase, tempFile } from './support/temp'

const SCHEMA =
  'CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE u(a, b, PRIMARY KEY (b, a)) WITHOUT ROWID'

/** A stranger, in a process of ours. */
const nodeSqlite = process.getBuiltinModule?.('node:sqlite') as
  | { DatabaseSync: new (path: string) => { exec(sql: string): void; close(): void } }
  | undefined

async function feedOf(db: Database, options?: ChangeFeedOptions, name = 'one'): Promise<ChangeFeed> {
  const feed = db.feed(name, options)
  await feed.ready()
  return feed
}

async function next(feed: ChangeFeed): Promise<FeedCommit> {
  const { value, done } = await feed.next()
  assert.equal(done, false)
  return value as FeedCommit
}

/** The changes of the next commits, as short as possible. */
async function told(feed: ChangeFeed, commits = 1): Promise<unknown[]> {
  const all: unknown[] = []
  for (let i = 0; i < commits; i++) {
    for (const change of (await next(feed)).operations) {
      all.push(change.operation === 'schema' ? change.sql : [change.operation, change.table, change.key])
    }
  }
  return all
}

const insert = (db: Database, id: number) => db.execute('INSERT INTO t VALUES (?, ?)', [id, 'x'])

// G313
test('a commit is told with its position, its time and its rows before and after', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db)
  const before = Date.now()
  await db.batch([
    { sql: "INSERT INTO t VALUES (1, x'00ff')" },
    { sql: 'UPDATE t SET v = 9007199254740993' },
    { sql: 'UPDATE t SET id = 2' },
    { sql: "INSERT INTO u VALUES (1e999, 'ä')" },
    { sql: 'DELETE FROM t' },
  ])
  const { at, ...commit } = await next(feed)
  assert.ok(at.getTime() >= before && at.getTime() <= Date.now(), String(at))
  const big = 9007199254740993n
  assert.deepEqual(commit, {
    position: 1,
    gap: null,
    operations: [
      {
        operation: 'insert',
        table: 't',
        key: { id: 1 },
        old: null,
        new: { id: 1, v: Buffer.from([0, 255]) },
      },
      {
        operation: 'update',
        table: 't',
        key: { id: 1 },
        old: { id: 1, v: Buffer.from([0, 255]) },
        new: { id: 1, v: big },
      },
      { operation: 'delete', table: 't', key: { id: 1 }, old: { id: 1, v: big }, new: null },
      { operation: 'insert', table: 't', key: { id: 2 }, old: null, new: { id: 2, v: big } },
      {
        operation: 'insert',
        table: 'u',
        key: { b: 'ä', a: Infinity },
        old: null,
        new: { a: Infinity, b: 'ä' },
      },
      { operation: 'delete', table: 't', key: { id: 2 }, old: { id: 2, v: big }, new: null },
    ],
  })
})

test('a table without a declared key is told by its rowid, and columns in their order', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE n(z, y, x, a AS (z + 1), b AS (z + 2) STORED)')
  const feed = await feedOf(db)
  await db.execute('INSERT INTO n VALUES (1, 2, 3)')
  const [change] = (await next(feed)).operations
  assert.ok(change !== undefined && change.operation !== 'schema')
  assert.deepEqual(change.key, { rowid: 1 })
  assert.deepEqual(Object.keys(change.new ?? {}), ['z', 'y', 'x', 'b'])
})

// G317
test('a row that moves, or whose key has a NULL, is told by its rowid, as commit events tell it', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE n(v); CREATE TABLE p(id TEXT PRIMARY KEY)')
  const feed = await feedOf(db)
  await db.execute("INSERT INTO n VALUES ('x')")
  await db.execute('UPDATE n SET rowid = 50')
  await db.execute('INSERT INTO p VALUES (NULL), (NULL)')
  await db.execute("UPDATE p SET id = 'a' WHERE rowid = 2")
  assert.deepEqual(await told(feed, 4), [
    ['insert', 'n', { rowid: 1 }],
    ['delete', 'n', { rowid: 1 }],
    ['insert', 'n', { rowid: 50 }],
    ['insert', 'p', { rowid: 1 }],
    ['insert', 'p', { rowid: 2 }],
    ['delete', 'p', { rowid: 2 }],
    ['insert', 'p', { id: 'a' }],
  ])
})

test('integers come as the database returns them', async (t) => {
  const db = await tempDatabase(t, SCHEMA, { integers: 'bigint' })
  const feed = await feedOf(db)
  await db.execute('INSERT INTO t VALUES (1, 2)')
  const [change] = (await next(feed)).operations
  assert.ok(change !== undefined && change.operation !== 'schema')
  assert.deepEqual(change.new, { id: 1n, v: 2n })
})

test('changes of the schema are told in their place, and what virtual tables keep is not', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db)
  await db.exec('CREATE VIRTUAL TABLE f USING fts5(a); ALTER TABLE t RENAME v TO w')
  await db.execute("INSERT INTO f VALUES ('word')")
  await db.execute('CREATE TABLE made AS SELECT 7 AS seven')
  await db.execute('INSERT INTO t(w) VALUES (1)')
  assert.deepEqual(await told(feed, 3), [
    'CREATE VIRTUAL TABLE f USING fts5(a)',
    'ALTER TABLE t RENAME v TO w',
    'CREATE TABLE made(seven)',
    ['insert', 'made', { rowid: 1 }],
    ['insert', 't', { id: 1 }],
  ])
})

test('only the tables that it names concern a consumer', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db, { tables: ['U'] })
  await feed.ready()
  for (let id = 1; id <= 70; id++) await insert(db, id)
  await db.batch([{ sql: 'INSERT INTO t VALUES (100, 1)' }, { sql: 'INSERT INTO u VALUES (1, 2)' }])
  assert.deepEqual(await told(feed), [['insert', 'u', { b: 2, a: 1 }]])
  const kept = await db.selectOne('SELECT count(*) AS n FROM _resqlite_changes')
  assert.equal(kept?.n, 7, 'what does not concern it is not kept')
})

// G314
test('a consumer that keeps its position goes on after it, although commits that do not concern it are gone', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db, { tables: ['t'] })
  await insert(db, 1)
  const { position } = await next(feed)
  const waiting = feed.next()
  for (let i = 0; i < 3; i++) await db.execute('INSERT INTO u VALUES (?, 1)', [i])
  const kept = 'SELECT count(*) AS n FROM _resqlite_changes'
  while ((await db.selectOne<{ n: number }>(kept))?.n !== 0) await setImmediate()
  await feed.return()
  await waiting
  const again = await feedOf(db, { tables: ['t'], after: position })
  await insert(db, 2)
  assert.deepEqual(await told(again), [['insert', 't', { id: 2 }]])
  await assert.rejects(feedOf(db, { tables: ['t'], after: position - 1 }), withCode('RESQLITE_FEED_LOST'))
})

// G313
test('asking for the next commit acknowledges the one before', async (t) => {
  const file = tempFile(t)
  const db = await Database.open(file)
  await db.exec(SCHEMA)
  const feed = await feedOf(db)
  for (let id = 1; id <= 4; id++) await insert(db, id)
  for await (const { position } of feed) if (position === 2) break
  await db.close()
  const again = await openDatabase(t, file)
  const positions: number[] = []
  for await (const { position } of again.feed('one')) {
    positions.push(position)
    if (position === 4) break
  }
  assert.deepEqual(positions, [2, 3, 4])
})

// G313
test('a consumer that fails gets the commit again', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await (await feedOf(db)).return()
  await insert(db, 1)
  const consume = async () => {
    for await (const _ of db.feed('one')) throw new Error('the index is not there')
  }
  await assert.rejects(consume(), /the index is not there/)
  assert.equal((await next(await feedOf(db))).position, 1)
})

// G313
test('a second loop over a feed is refused', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db)
  await insert(db, 1)
  const consume = async () => {
    for await (const _ of feed) break
  }
  await consume()
  await assert.rejects(consume(), withCode('RESQLITE_OPTION', 'this iterator is over'))
  assert.equal((await next(await feedOf(db))).position, 1)
})

// G314
test('commits may be kept for a month', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await feedOf(db, { keep: { age: 31 * 86_400_000 } })
  assert.deepEqual(await db.select('SELECT keep_age AS age FROM _resqlite_feeds'), [{ age: 31 * 86_400_000 }])
})

test('a consumer may acknowledge several commits at once', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db, { acknowledge: 'manual' })
  for (let id = 1; id <= 4; id++) await insert(db, id)
  for (let i = 0; i < 4; i++) await next(feed)
  await feed.acknowledge(3)
  await feed.acknowledge(1)
  await feed.return()
  assert.equal((await next(await feedOf(db))).position, 4)
})

test('calls of next that do not wait for each other get the commits in order', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db)
  const asked = [next(feed), next(feed), next(feed)]
  for (let id = 1; id <= 3; id++) await insert(db, id)
  assert.deepEqual(
    (await Promise.all(asked)).map(({ position }) => position),
    [1, 2, 3],
  )
})

// G314
test('a consumer that stayed away too long is told so', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await (await feedOf(db, { keep: { commits: 3 } })).return()
  for (let id = 1; id <= 300; id++) await insert(db, id)
  const lost = withCode('RESQLITE_FEED_LOST')
  await assert.rejects(db.feed('one').next(), lost)
  await db.dropFeed('one')
  const feed = await feedOf(db)
  await insert(db, 301)
  assert.deepEqual(await told(feed), [['insert', 't', { id: 301 }]])
})

test('a feed that is removed ends its iterators, and leaves no tables', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db)
  const ended = assert.rejects(feed.next(), withCode('RESQLITE_FEED_LOST'))
  await db.dropFeed('one')
  await ended
  const left = await db.select("SELECT name FROM sqlite_schema WHERE name GLOB '_resqlite_*'")
  assert.deepEqual(left, [{ name: '_resqlite_position' }])
})

test('closing the database ends a feed, and so does a signal', async (t) => {
  const file = tempFile(t)
  const db = await Database.open(file)
  const stop = new AbortController()
  const feeds = [await feedOf(db), await feedOf(db, { signal: stop.signal }, 'other')] as const
  const [first, second] = feeds.map((feed) => feed.next())
  stop.abort()
  await assert.rejects(second as Promise<unknown>, withCode('RESQLITE_ABORTED'))
  const closed = assert.rejects(first as Promise<unknown>, withCode('RESQLITE_CLOSED'))
  await db.close()
  await closed
  assert.throws(() => db.feed('one'), withCode('RESQLITE_CLOSED'))
})

// G313
test('a commit whose work was done when the signal fired is acknowledged, and the loop rejects', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const stop = new AbortController()
  const feed = await feedOf(db, { signal: stop.signal })
  await insert(db, 1)
  await insert(db, 2)
  const { position } = await next(feed)
  stop.abort()
  await assert.rejects(feed.next(), withCode('RESQLITE_ABORTED'))
  assert.equal((await next(await feedOf(db))).position, position + 1)
})

test('leaving a loop while it waits ends the wait', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db)
  const waiting = feed.next()
  await feed.return()
  assert.deepEqual(await waiting, { value: undefined, done: true })
})

// G315
test('VACUUM and scripts with transactions of their own show as gaps', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const feed = await feedOf(db)
  await db.execute('VACUUM')
  await db.exec('BEGIN; INSERT INTO t VALUES (1, 1); COMMIT')
  await insert(db, 2)
  const gaps = [await next(feed), await next(feed), await next(feed)].map(({ gap }) => gap)
  assert.deepEqual(gaps, ['script', 'script', null])
})

// G315
test('what another process of resqlite commits is no gap, even if it has undone all of it', async (t) => {
  async function other({ Database }: Tools, file: string) {
    const db = await Database.open(file)
    const undone = async (tx: { execute(sql: string): Promise<unknown> }) => {
      await tx.execute('INSERT INTO t VALUES (2, 2)')
      throw new Error('undone')
    }
    await db.execute('INSERT INTO t VALUES (3, 3)')
    await db.transaction((tx) => tx.transaction(undone).catch(() => {}))
    await db.close()
  }
  const file = tempFile(t)
  const db = await openDatabase(t, file)
  await db.exec(SCHEMA)
  const feed = await feedOf(db)
  await insert(db, 1)
  await run(t, other, file)
  await insert(db, 4)
  const gaps = [await next(feed), await next(feed), await next(feed)].map(({ gap }) => gap)
  assert.deepEqual(gaps, [null, null, null])
})

// G315
test('a consumer that begins to wait is told of what a stranger has written, though a live query knows of it already', {
  skip: nodeSqlite === undefined && 'this version of Node.js has no node:sqlite',
}, async (t) => {
  const file = tempFile(t)
  const db = await openDatabase(t, file)
  await db.exec(SCHEMA)
  const feed = await feedOf(db)
  const counts: unknown[] = []
  const rows = db.stream('SELECT count(*) AS n FROM t')[Symbol.asyncIterator]()
  counts.push((await rows.next()).value)
  assert.ok(nodeSqlite)
  const stranger = new nodeSqlite.DatabaseSync(file)
  stranger.exec('INSERT INTO t VALUES (1, 1)')
  stranger.close()
  counts.push((await rows.next()).value)
  assert.deepEqual(counts, [[{ n: 0 }], [{ n: 1 }]])
  assert.equal((await next(feed)).gap, 'external')
  await rows.return?.()
})

test('commit events do not tell the rows of the log', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await feedOf(db)
  const events = db.commits({ detail: 'rows' })
  const event = events.next()
  await insert(db, 1)
  const value: ChangeEvent = (await event).value
  const rows = Object.fromEntries((value.tables ?? []).map(({ table, rows }) => [table, rows]))
  assert.equal(rows._resqlite_changes, 'unknown')
  assert.equal(rows.t?.length, 1)
  await events.return()
})

test('a consumer that waits for the writer ends with its signal, or when it is left', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const leaving = new AbortController()
  const [aborted, left] = [db.feed('a', { signal: leaving.signal }), db.feed('b')]
  await Promise.all([aborted.ready(), left.ready()])
  const tx = await db.begin()
  const [ends, isLeft] = [assert.rejects(aborted.next(), withCode('RESQLITE_ABORTED')), left.next()]
  await db.select('SELECT 1') // they have read by now that there is nothing
  leaving.abort()
  await left.return()
  await ends
  assert.deepEqual(await isLeft, { value: undefined, done: true })
  await tx.rollback()
})

test('what cannot be is refused by name', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const refused = (name: unknown, options: unknown, message: RegExp) =>
    assert.throws(
      () => db.feed(name as string, options as ChangeFeedOptions),
      (error: Error & { code?: string }) => error.code === 'RESQLITE_OPTION' && message.test(error.message),
    )
  refused(undefined, {}, /the name must be a string of 1 to 255 characters, .*, not undefined/)
  refused('', {}, /the name must be a string of 1 to 255/)
  refused('\ud800', {}, /the name must be .* without NUL or lone surrogates/)
  refused('a', { tables: ['\ud800'] }, /option tables must be an array of names, each .* lone surrogates/)
  refused('a', { from: 1 }, /unknown option "from"/)
  refused('a', { after: -1 }, /option after must be an integer/)
  refused('a', { tables: 't' }, /option tables must be an array of names/)
  refused('a', { keep: { rows: 1 } }, /keep must be an object of commits, bytes, age \(not "rows"\)$/)
  refused(
    'a',
    { keep: { age: 0 } },
    /keep must be an object whose age is an integer from 1 to \d+ \(not 0\)$/,
  )
  refused('a', { acknowledge: true }, /option acknowledge must be one of 'next', 'manual'/)
  await assert.rejects(db.dropFeed(7 as never), /dropFeed: the name must be/)
  await assert.rejects((await feedOf(db)).acknowledge(0.5), /acknowledge: the position must be/)
  const inside = db.transaction(async () => db.feed('a'))
  await assert.rejects(inside, withCode('RESQLITE_TRANSACTION'))
})

test('a database that is open for reading only has no feeds', async (t) => {
  const file = tempFile(t)
  await openDatabase(t, file)
  const db = await openDatabase(t, file, { readOnly: true })
  assert.throws(() => db.feed('one'), withCode('RESQLITE_READ_ONLY'))
  await assert.rejects(db.dropFeed('one'), withCode('RESQLITE_READ_ONLY'))
})
