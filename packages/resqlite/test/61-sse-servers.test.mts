import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from 'resqlite'
import { type SSEOptions, sseEvents, sseResponse } from 'resqlite/sse'
import { withCode } from './support/errors.js'
import { type Event, EventReader, patchOf, Replica } from './support/sse.js'
import { tempDatabase } from './support/temp.js'

interface Pair {
  id: number
  v: string
}

const SCHEMA = "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a'), (2, 'b')"
const SQL = 'SELECT id, v FROM t ORDER BY id'
const KEY = { key: 'id' } as const

const turn = () => new Promise(setImmediate)
const openStreams = async (db: Database) => (await db.diagnostics()).streams.open

function respond(db: Database, options: Partial<SSEOptions<Pair[]>> = {}, init?: RequestInit): Response {
  const request = new Request('http://localhost/events', init)
  return sseResponse(db.stream<Pair>(SQL), request, { ...KEY, ...options })
}

const reader = (response: Response) => new EventReader(response)

// G154
test('sseResponse answers with the events that sendSSE sends', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const response = respond(db)
  const head = ['content-type', 'cache-control', 'x-accel-buffering'].map((name) =>
    response.headers.get(name),
  )
  assert.deepEqual(head, ['text/event-stream', 'no-store, no-transform', 'no'])
  const client = reader(response)
  const replica = new Replica()
  replica.apply((await client.next()) as Event)
  await db.execute("INSERT INTO t VALUES (3, 'c')")
  replica.apply((await client.next()) as Event)
  assert.deepEqual(replica.rows, await db.select(SQL))
  assert.deepEqual(replica.counts, { full: 1, patch: 1 })
  await db.close()
  assert.deepEqual(await client.next(), { event: 'closed', data: '{"code":"RESQLITE_CLOSED"}' })
  assert.equal(await client.next(), undefined)
})

// G157
test('the events of a response whose body is cancelled end at once', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const response = respond(db)
  assert.equal(await openStreams(db), 1)
  await response.body?.cancel()
  assert.equal(await openStreams(db), 0)
})

// G157
test('the events of a request whose signal fires end at once', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const gone = new AbortController()
  const response = respond(db, {}, { signal: gone.signal })
  assert.equal(await openStreams(db), 1)
  gone.abort()
  assert.equal(await openStreams(db), 0)
  assert.match(await response.text(), /^retry: /)
})

// G156
test('a response that nobody reads holds one event, and then one patch for the rest', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await db.execute('UPDATE t SET v = hex(zeroblob(100000))')
  const [other, client] = [reader(respond(db)), reader(respond(db))]
  await other.next()
  for (let id = 3; id < 50; id++) {
    await db.execute('INSERT INTO t VALUES (?, 0)', [id])
    await other.next()
  }
  const full = patchOf((await client.next()) as Event)
  const patch = patchOf((await client.next()) as Event)
  assert.deepEqual([full.added.length, patch.since, patch.added.length], [2, full.version, 47])
  client.leave()
  other.leave()
})

// G156
test('a response that nobody ever reads is given up', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const db = await tempDatabase(t, SCHEMA)
  const response = respond(db, { heartbeat: 1000 })
  for (let beat = 0; beat < 9; beat++) {
    await turn()
    t.mock.timers.tick(1000)
  }
  assert.equal(await openStreams(db), 0)
  await assert.rejects(response.text(), /reads nothing/)
})

// G158
test('a request with the header Last-Event-ID gets what it lacks', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const first = reader(respond(db))
  const { id } = (await first.next()) as Event
  await db.execute("INSERT INTO t VALUES (3, 'c')")
  await first.next()
  const second = reader(respond(db, {}, { headers: { 'last-event-id': id as string } }))
  const { event, data } = (await second.next()) as Event
  assert.deepEqual([event, JSON.parse(data).added], ['patch', [{ index: 2, row: { id: 3, v: 'c' } }]])
  first.leave()
  second.leave()
})

// G160
test('responses beyond maxClients have the status 503', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const first = respond(db, { maxClients: 1 })
  assert.equal(respond(db, { maxClients: 1 }).status, 503)
  await first.body?.cancel()
})

test('wrong arguments of sseResponse and sseEvents are refused by name', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream<Pair>(SQL)
  const code = 'RESQLITE_OPTION'
  assert.throws(() => respond(db, { beat: 1 } as object), withCode(code, 'sseResponse', '"beat"'))
  assert.throws(() => sseResponse(live, {} as Request, KEY), withCode(code, 'a Request'))
  const heartbeat = { ...KEY, heartbeat: 1 } as typeof KEY
  assert.throws(() => sseEvents(live, heartbeat), withCode(code, 'sseEvents', '"heartbeat"'))
})

// G154
test('sseEvents iterates over the same events', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const events = sseEvents(db.stream<Pair>(SQL), KEY)
  const full = (await events.next()).value as Event
  await db.execute("INSERT INTO t VALUES (3, 'c')")
  const patch = (await events.next()).value as Event
  assert.deepEqual([full.event, patch.event, patchOf(patch).since], ['full', 'patch', patchOf(full).version])
  const waiting = events.next()
  await db.close()
  assert.deepEqual((await waiting).value, { event: 'closed', data: '{"code":"RESQLITE_CLOSED"}' })
  assert.deepEqual(await events.next(), { value: undefined, done: true })
})

// G156
test('whoever is slow to ask sseEvents gets one patch, and the end all the same', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const [slow, other] = [sseEvents(db.stream<Pair>(SQL), KEY), sseEvents(db.stream<Pair>(SQL), KEY)]
  await slow.next()
  await other.next()
  for (let id = 3; id < 6; id++) {
    await db.execute('INSERT INTO t VALUES (?, 0)', [id])
    await other.next()
  }
  const patch = (await slow.next()).value as Event
  assert.equal(patchOf(patch).added.length, 3)
  await db.close()
  assert.equal(((await slow.next()).value as Event).event, 'closed')
})

// G157
test('leaving sseEvents frees its part, also while it waits', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const events = sseEvents(db.stream<Pair>(SQL), KEY)
  await events.next()
  const waiting = events.next()
  await events.return()
  assert.deepEqual(await waiting, { value: undefined, done: true })
  assert.equal(await openStreams(db), 0)
})

test('sseEvents rejects when the database is closed', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const events = sseEvents(db.stream<Pair>(SQL), KEY)
  await db.close()
  await assert.rejects(events.next(), withCode('RESQLITE_CLOSED'))
  assert.deepEqual(await events.next(), { value: undefined, done: true })
})
