import assert from 'node:assert/strict'
import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { Database, LiveObserver, Patch, Row } from 'resqlite'
import { firstValueFrom, from, map, take } from 'rxjs'
import { withCode } from './support/errors'
import { Watch } from './support/live'
import { tempDatabase } from './support/temp'

const SCHEMA = "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')"
const SQL = 'SELECT * FROM t ORDER BY id'

/** A promise that is resolved from outside. */
function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const openStreams = async (db: Database) => (await db.diagnostics()).streams.open

/** An observer that notes what it is called with, and a way to wait for the next call. */
function noting(): { log: unknown[]; called: () => Promise<void>; observer: Required<LiveObserver<Row[]>> } {
  const log: unknown[] = []
  let next = deferred()
  const note = (entry: unknown) => {
    log.push(entry)
    next.resolve()
    next = deferred()
  }
  const observer = {
    next: (rows: Row[]) => note(rows.length),
    error: ({ code }: { code: string }) => note(code),
    complete: () => note('complete'),
  }
  return { log, called: () => next.promise, observer }
}

// G249
test('an observer gets values, and its unsubscribe ends the subscription', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { log, called, observer } = noting()
  const subscription = db.stream(SQL).subscribe(observer)
  await called()
  const second = called()
  await db.execute("INSERT INTO t(v) VALUES ('b')")
  await second
  subscription.unsubscribe()
  assert.equal(await openStreams(db), 0)
  assert.deepEqual(log, [1, 2])
})

test('an observer is called as an object', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  class Counter {
    readonly seen = deferred<number>()
    next(rows: Row[]): void {
      this.seen.resolve(rows.length)
    }
  }
  const counter = new Counter()
  using _subscription = db.stream(SQL).subscribe(counter)
  assert.equal(await counter.seen.promise, 1)
})

test('an observer without next is told of errors only', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { promise, resolve } = deferred<string>()
  db.stream('SELECT * FROM nowhere').subscribe({ error: ({ code }) => resolve(code) })
  assert.equal(await promise, 'SQLITE_ERROR')
})

// G249
test('complete is called in place of error when the database is closed', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const [complete, plain] = [noting(), noting()]
  db.stream(SQL).subscribe(complete.observer)
  db.stream(SQL).subscribe({ next: plain.observer.next, error: plain.observer.error })
  await plain.called()
  await db.close()
  assert.deepEqual(complete.log, [1, 'complete'])
  assert.deepEqual(plain.log, [1, 'RESQLITE_CLOSED'])
})

test('complete is called when the signal fires, also one that has fired before', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const controller = new AbortController()
  const live = db.stream(SQL, [], { signal: controller.signal })
  const [before, after, left] = [noting(), noting(), noting()]
  live.subscribe(before.observer)
  await before.called()
  controller.abort()
  live.subscribe(after.observer)
  live.subscribe(left.observer).unsubscribe()
  await after.called()
  assert.deepEqual([before.log, after.log, left.log], [[1, 'complete'], ['complete'], []])
})

test('what is no observer is refused, with its name', async (t) => {
  const live = (await tempDatabase(t, SCHEMA)).stream(SQL)
  const refused = (first: unknown, second: unknown, ...words: string[]) =>
    assert.throws(
      () => live.subscribe(first as never, second as never),
      withCode('RESQLITE_OPTION', ...words),
    )
  refused(1, undefined, 'a function or an observer', '1')
  refused(null, undefined, 'null')
  refused({ next: 1 }, undefined, 'next of the observer')
  refused({ next: () => {}, complete: 'x' }, undefined, 'complete of the observer')
  refused({ next: () => {} }, () => {}, 'second argument')
})

// G249
test('RxJS takes a live query for an observable, and unsubscribing frees it at once', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const counts = from(db.stream(SQL)).pipe(map((rows) => rows.length))
  const seen: number[] = []
  const { promise, resolve } = deferred()
  const subscription = counts.subscribe((count) => {
    seen.push(count)
    resolve()
  })
  await promise
  subscription.unsubscribe()
  assert.equal(await openStreams(db), 0)
  assert.equal(await firstValueFrom(counts.pipe(take(1))), 1)
  assert.equal(await openStreams(db), 0)
  assert.deepEqual(seen, [1])
})

// G249
test('RxJS gets the error of a query, which ends the subscription, and completes when the database is closed', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const failing = noting()
  from(db.stream(SQL)).subscribe(failing.observer as never)
  await failing.called()
  const failed = failing.called()
  await db.exec('ALTER TABLE t RENAME TO u')
  await failed
  assert.equal(await openStreams(db), 0)
  await db.exec('ALTER TABLE u RENAME TO t')
  const closing = noting()
  from(db.stream(SQL)).subscribe(closing.observer as never)
  await closing.called()
  await db.close()
  assert.deepEqual(
    [failing.log, closing.log],
    [
      [1, 'SQLITE_ERROR'],
      [1, 'complete'],
    ],
  )
})

test('the observable of a live query is its own observable', async (t) => {
  const observable = (await tempDatabase(t, SCHEMA)).stream(SQL)['@@observable']() as {
    '@@observable'?: () => unknown
  }
  assert.equal(observable['@@observable']?.(), observable)
})

test('map hands out what the function makes of each value', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const lines = db
    .stream(SQL)
    .values()
    .map(async (rows) => `${rows.length} rows`)
  assert.equal((await lines.next()).value, '1 rows')
  await db.execute("INSERT INTO t(v) VALUES ('b')")
  assert.equal((await lines.next()).value, '2 rows')
  await lines.return()
  assert.equal(await openStreams(db), 0)
})

// G250
test('a mapped iterator ends at once while a next waits', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const lines = db
    .stream(SQL)
    .patches({ key: 'id' })
    .map(({ added }) => added.length)
    .map((added) => `${added} added`)
  assert.equal((await lines.next()).value, '1 added')
  const waiting = lines.next()
  assert.deepEqual(await lines.return(), { value: undefined, done: true })
  assert.deepEqual(await waiting, { value: undefined, done: true })
  assert.equal(await openStreams(db), 0)
})

test('an error of the function ends a mapped iterator', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const mistake = new Error('mistake')
  const lines = db
    .stream(SQL)
    .values()
    .map(() => Promise.reject(mistake))
  await assert.rejects(lines.next(), (error) => error === mistake)
  assert.deepEqual(await lines.next(), { value: undefined, done: true })
  assert.equal(await openStreams(db), 0)
})

/** Waits until no live query is open; the test's own time limit ends it otherwise. */
async function allLeft(t: TestContext, db: Database): Promise<void> {
  while (!t.signal.aborted && (await openStreams(db)) > 0);
}

// G250
test('a readable stream from a mapped iterator frees the live query when it is destroyed', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const body = Readable.from(
    db
      .stream(SQL)
      .patchesBytes({ key: 'id' })
      .map(({ bytes }) => Buffer.concat([Buffer.from('data: '), bytes, Buffer.from('\n\n')])),
  )
  const client = body.pipe(new PassThrough())
  const [first] = await once(client, 'data')
  assert.match(String(first), /^data: \{"initial":true,/)
  body.destroy()
  await allLeft(t, db)
})

// G250
test('a web stream from a mapped iterator frees the live query when it is cancelled', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const lines = db
    .stream(SQL)
    .patches({ key: 'id' })
    .map(({ version }) => `id: ${version}\n`)
  const response = new Response(Readable.toWeb(Readable.from(lines)) as never)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  await reader.cancel()
  await allLeft(t, db)
})

test('the signal of a live query ends an async generator around its iterator', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = new AbortController()
  const live = db.stream(SQL, [], { signal: client.signal })
  async function* lines() {
    for await (const rows of live) yield `${rows.length}`
  }
  const generator = lines()
  assert.equal((await generator.next()).value, '1')
  const waiting = generator.next()
  client.abort()
  await assert.rejects(waiting, withCode('RESQLITE_ABORTED'))
  assert.equal(await openStreams(db), 0)
})

// G251
test('patches of one query have the same versions for all who follow it', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const [fast, slow] = [live.patches({ key: 'id' }), db.stream(SQL).patches({ key: 'id', rows: false })]
  const watching = new Watch(live)
  const [first] = [(await fast.next()).value as Patch, await slow.next()]
  await watching.value()
  assert.equal(first.since, 0)
  const versions: number[] = [first.version]
  for (const v of ['b', 'c']) {
    await db.execute('INSERT INTO t(v) VALUES (?)', [v])
    await watching.value()
    const patch = (await fast.next()).value as Patch
    assert.equal(patch.since, versions.at(-1))
    versions.push(patch.version)
  }
  const merged = (await slow.next()).value
  assert.deepEqual([merged.since, merged.version, merged.added.length], [versions[0], versions[2], 2])
  const late = (await live.patches({ key: 'id' }).next()).value as Patch
  assert.deepEqual([late.since, late.version, late.initial], [0, versions[2], true])
  assert.ok(versions.every((version, i) => i === 0 || version > (versions[i - 1] as number)))
  watching.stop()
})

// G251
test('versions of one result are never those of another', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const versions = new Set<number>()
  for (const sql of [SQL, SQL, 'SELECT id FROM t']) {
    const changes = db.stream(sql).patches({ key: 'id' })
    versions.add((await changes.next()).value.version)
    await changes.return()
  }
  assert.equal(versions.size, 3)
})

test('patches without rows have the same lists', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const [full, lean] = [live.patches({ key: 'id' }), live.patches({ key: 'id', rows: false })]
  for (const sql of ['SELECT 1', "INSERT INTO t(v) VALUES ('b')", 'DELETE FROM t WHERE id = 1']) {
    await db.exec(sql)
    const { rows, ...lists } = (await full.next()).value as Patch
    assert.ok(Array.isArray(rows))
    assert.deepEqual((await lean.next()).value, lists)
  }
})

test('what a subscriber does to a patch reaches no other', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const [one, two] = [live.patches({ key: 'id' }), live.patches({ key: 'id' })]
  await Promise.all([one.next(), two.next()])
  await db.execute("INSERT INTO t(v) VALUES ('b')")
  const mine = (await one.next()).value as Patch
  mine.rows.length = 0
  Object.assign(mine.added[0] as object, { index: 7 })
  const yours = (await two.next()).value as Patch
  assert.deepEqual([yours.rows.length, yours.added[0]?.index], [2, 1])
})

test('rows that are arrays have keys by index', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE p(a, b, v); INSERT INTO p VALUES (1, 1, 0), (1, 2, 0)')
  const live = db.stream('SELECT v, a, b FROM p', [], { arrays: true })
  const changes = live.patches({ key: [1, 2] })
  await changes.next()
  await db.execute('UPDATE p SET v = 1 WHERE b = 2')
  assert.deepEqual((await changes.next()).value.updated, [
    { from: 1, index: 1, previous: [0, 1, 2], row: [1, 1, 2] },
  ])
  await assert.rejects(
    live.patches({ key: 3 }).next(),
    withCode('RESQLITE_KEY', 'no column 3', '"v", "a", "b"'),
  )
  await assert.rejects(live.patches({ key: 1 }).next(), withCode('RESQLITE_KEY', 'a = 1'))
})

test('a key of the wrong kind is refused', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const [objects, arrays] = [db.stream(SQL), db.stream(SQL, [], { arrays: true })]
  const refused = (make: () => unknown, ...words: string[]) =>
    assert.throws(make, withCode('RESQLITE_OPTION', ...words))
  refused(() => objects.patches({ key: 0 as never }), 'the name of a column', '0')
  refused(() => arrays.patches({ key: 'id' as never }), 'the index of a column', '"id"')
  refused(() => arrays.patches({ key: -1 }), 'option key')
  refused(() => arrays.patchesBytes({ key: [0, 'id'] as never }), 'patchesBytes', '"id"')
  refused(() => objects.patchesBytes({ key: 'id', rows: true } as never), 'unknown option "rows"')
})

// G252
test('a patch as bytes is what JSON.stringify makes of the patch', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const [patches, bytes] = [live.patches({ key: 'id', rows: false }), live.patchesBytes({ key: 'id' })]
  for (const sql of [
    'SELECT 1',
    `INSERT INTO t VALUES (2, 'é"\n'), (3, 1.5)`,
    'UPDATE t SET v = NULL WHERE id = 2; DELETE FROM t WHERE id = 1',
    'UPDATE t SET id = 9 - id',
  ]) {
    await db.exec(sql)
    const patch = (await patches.next()).value
    const encoded = (await bytes.next()).value
    assert.equal(Buffer.from(encoded.bytes).toString(), JSON.stringify(patch))
    const { initial, commit, since, version } = patch
    assert.deepEqual(encoded, { bytes: encoded.bytes, initial, commit, since, version })
  }
})

// G252
test('values that JSON does not have are written as selectBytes writes them', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const sql =
    "SELECT 7 AS id, 9007199254740993 AS i, x'00ff10' AS b, 9e999 AS r, -9e999 AS s, -0.0 AS z, 'x' AS t"
  const expected = Buffer.from(await db.selectBytes(sql))
    .toString()
    .slice(1, -1)
  const { bytes } = (await db.stream(sql).patchesBytes({ key: 'id' }).next()).value
  assert.ok(Buffer.from(bytes).toString().includes(`"row":${expected}}`))
  const arrays = db.stream(sql, [], { arrays: true }).patchesBytes({ key: 0 })
  const row = '"row":[7,9007199254740993,"AP8Q",9e999,-9e999,-0.0,"x"]'
  assert.ok(
    Buffer.from((await arrays.next()).value.bytes)
      .toString()
      .includes(row),
  )
})

// G252
test('all who get the same patch share its bytes', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const iterators = [1, 2, 3].map(() => db.stream(SQL).patchesBytes({ key: 'id' }))
  const next = async () => (await Promise.all(iterators.map((i) => i.next()))).map(({ value }) => value.bytes)
  const first = await next()
  await db.execute("INSERT INTO t(v) VALUES ('b')")
  for (const [one, ...others] of [first, await next()]) {
    for (const other of others) assert.equal(other, one)
  }
})

// G250
test('a mapped iterator ends at once while its function is under way', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  const mapped = db
    .stream('SELECT x FROM t')
    .values()
    .map(() => new Promise<never>(() => {}))
  const waiting = mapped.next()
  await db.select('SELECT 1')
  await mapped.return?.()
  assert.deepEqual(await waiting, { value: undefined, done: true })
})

test('map takes a function only', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  assert.throws(
    () =>
      db
        .stream('SELECT x FROM t')
        .values()
        .map(5 as never),
    withCode('RESQLITE_OPTION'),
  )
})
