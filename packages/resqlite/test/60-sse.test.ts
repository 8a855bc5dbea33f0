import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { CodedError, Database, LiveQuery } from 'resqlite'
import { type SSEOptions, sendSSE } from 'resqlite/sse'
import { withCode } from './support/errors'
import { SLOW_VALUE, Watch } from './support/live'
import { throws } from './support/random'
import { type Event, EventReader, FakeResponse, patchOf, Replica, serve } from './support/sse'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, v);
  WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100) INSERT INTO t SELECT id, 'v' || id FROM n;
`
const SQL = 'SELECT id, v FROM t ORDER BY id'
const KEY = { key: 'id' } as const
const SLOW_COUNT = `SELECT count(*) AS id, ${SLOW_VALUE} AS v FROM t`

/** Sends the events of a new live query to a client that is a fake. */
function fakeClient(
  db: Database,
  { lastEventId, ...options }: Partial<SSEOptions<{ id: number }[]>> & { lastEventId?: string } = {},
  sql = SQL,
) {
  const response = new FakeResponse(lastEventId)
  const ended = sendSSE(db.stream<{ id: number }>(sql), response.raw, { ...KEY, ...options })
  return { response, ended }
}

const openStreams = async (db: Database) => (await db.diagnostics()).streams.open

async function served(t: TestContext, live: LiveQuery<unknown[]>, options: object = KEY): Promise<string> {
  const { origin } = await serve(
    t,
    (_, response) => void sendSSE(live, response, options as SSEOptions<unknown[]>),
  )
  return origin
}

// G105
test('the first event for a client shows what was committed before, beside other clients', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const first = fakeClient(db, {}, SLOW_COUNT)
  await first.response.until(1)
  for (let id = 101; id <= 100 + throws(10); id++) {
    await db.execute("INSERT INTO t(v) VALUES ('new')")
    const { response } = fakeClient(db, {}, SLOW_COUNT)
    const [event] = await response.until(1)
    assert.equal(patchOf(event as Event).added[0]?.row.id, id)
    response.leave()
  }
})

// G105
test('what a client that comes back is told first shows what was committed before', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const other = fakeClient(db, {}, SLOW_COUNT)
  let { id } = (await other.response.until(1))[0] as Event
  for (let n = 101; n <= 100 + throws(10); n++) {
    await db.execute("INSERT INTO t(v) VALUES ('new')")
    const { response } = fakeClient(db, { lastEventId: id }, SLOW_COUNT)
    const [event] = await response.until(1)
    assert.equal(patchOf(event as Event).added[0]?.row.id, n)
    id = (event as Event).id
    response.leave()
  }
})

// G154
test('a client gets the whole result, and then what changes in it', async (t) => {
  const db = await tempDatabase(t, "CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, 'a')")
  const client = await EventReader.open(await served(t, db.stream(SQL)))
  assert.match((await client.block()) ?? '', /^retry: [12]\d\d\d$/)
  const full = (await client.block()) ?? ''
  const { commit } = await db.execute("INSERT INTO t VALUES (2, 'b')")
  const patch = (await client.block()) ?? ''
  const form = /^event: (\w+)\nid: ([\w-]{8})\.(\d+)\ndata: (.*)$/
  const [, firstName, realm, version, first] = form.exec(full) ?? []
  const [, secondName, sameRealm, next, second] = form.exec(patch) ?? []
  assert.deepEqual([firstName, secondName, sameRealm], ['full', 'patch', realm])
  const nothing = { removed: [], updated: [], moved: [] }
  assert.deepEqual(JSON.parse(first ?? ''), {
    initial: true,
    added: [{ index: 0, row: { id: 1, v: 'a' } }],
    ...nothing,
    commit: commit - 1,
    since: 0,
    version: Number(version),
  })
  assert.deepEqual(JSON.parse(second ?? ''), {
    initial: false,
    added: [{ index: 1, row: { id: 2, v: 'b' } }],
    ...nothing,
    commit,
    since: Number(version),
    version: Number(next),
  })
  client.leave()
})

test('the head keeps proxies from collecting, compressing and storing events', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await EventReader.open(await served(t, db.stream(SQL)))
  const { response } = client
  const head = ['content-type', 'cache-control', 'x-accel-buffering'].map((name) =>
    response.headers.get(name),
  )
  assert.deepEqual([response.status, ...head], [200, 'text/event-stream', 'no-store, no-transform', 'no'])
  client.leave()
})

test('a question for the head alone is answered, and is no client', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const response = await fetch(await served(t, db.stream(SQL)), { method: 'HEAD' })
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/event-stream'])
  assert.equal((await db.diagnostics()).streams.open, 0)
})

// G159
test('a server that is closing does not wait for connections whose events have ended', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { origin, server } = await serve(t, (_, response) => void sendSSE(db.stream(SQL), response, KEY))
  const client = await EventReader.open(origin)
  assert.equal(client.response.headers.get('connection'), 'close')
  const closed = once(server, 'close')
  server.close()
  await db.close()
  await closed
})

test('headers that were set before are sent, too', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { origin } = await serve(t, (_, response) => {
    response.setHeader('access-control-allow-origin', '*')
    void sendSSE(db.stream(SQL), response, KEY)
  })
  const client = await EventReader.open(origin)
  assert.equal(client.response.headers.get('access-control-allow-origin'), '*')
  client.leave()
})

test('it works over HTTP/2', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const server = createHttp2Server((_, response) => void sendSSE(db.stream(SQL), response, KEY)).listen(0)
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const stream = session.request({ ':path': '/' }).setEncoding('utf8')
  let text = ''
  while (!text.includes('event: full')) text += (await once(stream, 'data'))[0]
  stream.close()
  session.close()
  while ((await openStreams(db)) > 0) await new Promise(setImmediate)
  server.close()
})

// G155
test('all clients of equal live queries get the same bytes, which are encoded once', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const clients = Array.from({ length: 5 }, () => fakeClient(db).response)
  await Promise.all(clients.map((client) => client.until(1)))
  await db.execute('UPDATE t SET v = 1 WHERE id = 7')
  await Promise.all(clients.map((client) => client.until(2)))
  const last = clients.map(({ written }) => written.at(-1))
  assert.ok(last.every((bytes) => bytes === last[0]))
  assert.equal(await openStreams(db), 1)
  for (const client of clients) client.leave()
})

// G156
test('a client that does not read gets one patch for all that it missed', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response } = fakeClient(db)
  const replica = new Replica()
  const watching = new Watch(db.stream<{ id: number; v: unknown }>(SQL))
  response.stopped = true
  await response.until(1)
  for (let v = 0; v < 20; v++) {
    await db.execute('UPDATE t SET v = ? WHERE id IN (5, ?)', [v, 10 + v])
    await watching.until((rows) => rows[4]?.v === v)
  }
  assert.equal(response.events.length, 1)
  response.drain()
  const [, patch] = await response.until(2)
  assert.ok(patch)
  assert.equal(patchOf(patch).updated.length, 21)
  for (const event of response.events) replica.apply(event)
  assert.deepEqual(replica.rows, await db.select(SQL))
  response.leave()
  watching.stop()
})

// G157
test('a client that leaves is forgotten, and the last one ends the live query', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const [first, second] = [fakeClient(db), fakeClient(db)]
  await Promise.all([first.response.until(1), second.response.until(1)])
  first.response.leave()
  await first.ended
  assert.equal(await openStreams(db), 1)
  second.response.leave()
  await second.ended
  assert.equal(await openStreams(db), 0)
})

// G157
test('a client that left before the call is not served', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const response = new FakeResponse()
  response.destroyed = true
  await sendSSE(db.stream(SQL), response.raw, KEY)
  assert.deepEqual([response.status, await openStreams(db)], [0, 0])
})

// G158
test('a client that comes back gets the patches since its last event', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response: other } = fakeClient(db)
  const { response: before } = fakeClient(db)
  const replica = new Replica()
  for (const event of await before.until(1)) replica.apply(event)
  before.leave()
  for (let v = 1; v <= 3; v++) {
    await db.execute('UPDATE t SET v = ? WHERE id = 7', [v])
    await other.until(v + 1)
  }
  const { response: after } = fakeClient(db, { lastEventId: replica.id as string })
  for (const event of await after.until(3)) replica.apply(event)
  assert.deepEqual(replica.counts, { full: 1, patch: 3 })
  assert.deepEqual(replica.rows, await db.select(SQL))
  for (const client of [other, after]) client.leave()
})

// G158
test('a client that comes back and has missed nothing is told so', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response: other } = fakeClient(db)
  const [full] = await other.until(1)
  const { response } = fakeClient(db, { lastEventId: full?.id as string })
  const [patch] = await response.until(1)
  const { version } = patchOf(full as never)
  const nothing = { initial: false, added: [], removed: [], updated: [], moved: [] }
  assert.deepEqual(patchOf(patch as never), {
    ...nothing,
    commit: patchOf(full as never).commit,
    since: version,
    version,
  })
  for (const client of [other, response]) client.leave()
})

test('the option lastEventId goes before the header', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response: other } = fakeClient(db)
  const [full] = await other.until(1)
  const response = new FakeResponse('nonsense')
  void sendSSE(db.stream(SQL), response.raw, { ...KEY, lastEventId: full?.id })
  assert.equal((await response.until(1))[0]?.event, 'patch')
  for (const client of [other, response]) client.leave()
})

const strangers: Record<string, (id: string) => string> = {
  'of another process': (id) => `AAAAAAAA.${id.split('.')[1]}`,
  'of a version that nobody has': (id) => `${id}9`,
  'that is nonsense': () => '../../etc/passwd',
}
for (const [which, change] of Object.entries(strangers)) {
  // G158
  test(`a client that comes back with an id ${which} gets the whole result`, async (t) => {
    const db = await tempDatabase(t, SCHEMA)
    const { response: other } = fakeClient(db)
    const [full] = await other.until(1)
    const { response } = fakeClient(db, { lastEventId: change(full?.id as string) })
    assert.equal((await response.until(1))[0]?.event, 'full')
    for (const client of [other, response]) client.leave()
  })
}

// G158
test('a client that comes back with an id of another query gets the whole result', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response: other } = fakeClient(db)
  await other.until(1)
  const { response: stranger } = fakeClient(db, {}, 'SELECT id FROM t WHERE id < 5')
  const [foreign] = await stranger.until(1)
  await db.execute('UPDATE t SET v = 1 WHERE id = 7')
  await other.until(2)
  const { response } = fakeClient(db, { lastEventId: foreign?.id as string })
  assert.equal((await response.until(1))[0]?.event, 'full')
  for (const client of [other, stranger, response]) client.leave()
})

// G158
test('a client that comes back when the patches take more bytes than the whole result gets that', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response: other } = fakeClient(db)
  const [first] = await other.until(1)
  for (let v = 1; v <= 3; v++) {
    await db.execute('UPDATE t SET v = ?', [`${v}`.repeat(20)])
    await other.until(v + 1)
  }
  const { response } = fakeClient(db, { lastEventId: first?.id as string })
  assert.equal((await response.until(1))[0]?.event, 'full')
  for (const client of [other, response]) client.leave()
})

// G158
test('a client that comes back gets its patches also if the result was empty at first', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY, v)')
  const { response: other } = fakeClient(db)
  await other.until(1)
  await db.execute(
    'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100) INSERT INTO t SELECT id, hex(zeroblob(250)) FROM n',
  )
  const [, grown] = await other.until(2)
  for (let v = 1; v <= 20; v++) {
    await db.execute('UPDATE t SET v = hex(randomblob(250)) WHERE id = ?', [v])
    await other.until(v + 2)
  }
  const { response } = fakeClient(db, { lastEventId: grown?.id as string })
  const events = await response.until(1)
  assert.equal(events[0]?.event, 'patch')
  for (const client of [other, response]) client.leave()
})

// G159
test('clients are told that the query fails, by the code only, and that it works again', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const errors: CodedError[] = []
  const { response } = fakeClient(db, { onError: (error) => errors.push(error) })
  await response.until(1)
  await db.exec('ALTER TABLE t RENAME TO secret')
  const [, failed] = await response.until(2)
  assert.deepEqual(failed, { event: 'failed', data: '{"code":"SQLITE_ERROR"}' })
  assert.match(String(errors[0]?.message), /no such table: t/)
  await db.exec('ALTER TABLE secret RENAME TO t')
  const [, , patch] = await response.until(3)
  const { since, version } = patchOf(patch as never)
  assert.equal(since, version)
  response.leave()
})

// G159
test('the events of a query that never worked end with its error', async (t) => {
  const db = await tempDatabase(t)
  const { response, ended } = fakeClient(db)
  await ended
  assert.deepEqual(response.events, [{ event: 'failed', data: '{"code":"SQLITE_ERROR"}' }])
  assert.ok(response.writableEnded)
})

// G159
test('the events end when two rows have the same key', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const errors: CodedError[] = []
  const sql = 'SELECT 1 + (id > 1) * id AS id FROM t'
  const { response, ended } = fakeClient(db, { onError: (error) => errors.push(error) }, sql)
  await response.until(1)
  await db.execute('INSERT INTO t(id) VALUES (0)')
  await ended
  assert.deepEqual(response.events.at(-1), { event: 'failed', data: '{"code":"RESQLITE_KEY"}' })
  assert.match(String(errors[0]?.message), /id = 1/)
  assert.equal(await openStreams(db), 0)
})

// G159
test('closing the database is told, and ends the events', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response, ended } = fakeClient(db)
  await response.until(1)
  await db.close()
  await ended
  assert.deepEqual(response.events.at(-1), { event: 'closed', data: '{"code":"RESQLITE_CLOSED"}' })
  assert.ok(response.writableEnded)
})

// G159
test('closing the database disconnects a client that does not read', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response, ended } = fakeClient(db)
  response.stopped = true
  await response.until(1)
  await db.close()
  await ended
  assert.ok(response.destroyed)
})

test('a signal ends the events of its client, that of the live query those of all', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const [own, shared] = [new AbortController(), new AbortController()]
  const live = db.stream(SQL, [], { signal: shared.signal })
  const [first, second] = [new FakeResponse(), new FakeResponse()]
  const ended = [sendSSE(live, first.raw, { ...KEY, signal: own.signal }), sendSSE(live, second.raw, KEY)]
  await Promise.all([first.until(1), second.until(1)])
  const closed = { event: 'closed', data: '{"code":"RESQLITE_ABORTED"}' }
  own.abort()
  await ended[0]
  assert.deepEqual([first.events.at(-1), second.events.length], [closed, 1])
  shared.abort()
  await ended[1]
  assert.deepEqual(second.events.at(-1), closed)
})

// G160
test('clients beyond maxClients are told to come later', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const [first, second] = [fakeClient(db, { maxClients: 1 }), fakeClient(db, { maxClients: 1 })]
  await second.ended
  assert.deepEqual([second.response.status, second.response.events], [503, []])
  first.response.leave()
  await first.ended
  const { response } = fakeClient(db, { maxClients: 1 })
  await response.until(1)
  response.leave()
})

test('after the database was closed clients are told to come later', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  await db.close()
  const origin = await served(t, live)
  const response = await fetch(origin)
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '5'])
})

test('when the signal of the live query has fired clients are told to come later', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const response = new FakeResponse()
  await sendSSE(db.stream(SQL, [], { signal: AbortSignal.abort() }), response.raw, KEY)
  assert.equal(response.status, 503)
})

// G160
test('an event larger than maxBytes ends the events of the client', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const errors: CodedError[] = []
  const { response, ended } = fakeClient(db, { maxBytes: 5000, onError: (error) => errors.push(error) })
  await response.until(1)
  await db.execute('UPDATE t SET v = zeroblob(100)')
  await ended
  assert.deepEqual(response.events.at(-1), { event: 'failed', data: '{"code":"RESQLITE_LIMIT"}' })
  assert.match(String(errors[0]?.message), /an event of \d+ bytes/)
})

test('a comment shows that an idle connection is alive', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await EventReader.open(await served(t, db.stream(SQL), { ...KEY, heartbeat: 1 }))
  while ((await client.block()) !== ':') {}
  client.leave()
})

// G156
test('a client that does not read gets no comments, and is disconnected in the end', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { response, ended } = fakeClient(db, { heartbeat: 1 })
  response.stopped = true
  await ended
  assert.ok(response.destroyed)
  const comments = response.written.filter((bytes) => Buffer.from(bytes).toString() === ':\n\n')
  assert.ok(comments.length <= 1)
  assert.equal(await openStreams(db), 0)
})

// G156
test('a client on a slow line that does read is not disconnected, however long an event takes', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const db = await tempDatabase(t, 'CREATE TABLE t AS SELECT 1 AS id, hex(zeroblob(500000)) AS v')
  const { response } = fakeClient(db, { heartbeat: 1000 })
  response.stopped = true
  while (response.written.length < 2) await once(response, 'written')
  for (let reads = 0; reads < 10; reads++) {
    t.mock.timers.tick(7000)
    response.read(128 * 1024)
  }
  assert.deepEqual([response.destroyed, response.events.length], [false, 1])
  response.leave()
})

test('rows may be arrays, and values are written as selectBytes writes them', async (t) => {
  const db = await tempDatabase(
    t,
    "CREATE TABLE t(a, b, c); INSERT INTO t VALUES (9007199254740993, x'00ff', 9e999)",
  )
  const response = new FakeResponse()
  void sendSSE(db.stream('SELECT * FROM t', [], { arrays: true }), response.raw, { key: 0 })
  const [full] = await response.until(1)
  assert.match(full?.data ?? '', /"row":\[9007199254740993,"AP8=",9e999\]/)
  response.leave()
})

test('wrong arguments are refused by name', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL) as LiveQuery<{ id: number }[]>
  const refused = (call: () => unknown, ...parts: string[]) =>
    assert.throws(call, withCode('RESQLITE_OPTION', 'sendSSE', ...parts))
  const { raw } = new FakeResponse()
  const options = (wrong: object) => () => sendSSE(live, raw, wrong as typeof KEY)
  refused(() => sendSSE({} as typeof live, raw, KEY), 'a live query of db.stream')
  refused(() => sendSSE(live, {} as typeof raw, KEY), 'the response of a server')
  refused(options({}), 'key')
  refused(options({ key: 3 }), 'the name of a column')
  refused(options({ ...KEY, beat: 1 }), '"beat"', 'heartbeat')
  refused(options({ ...KEY, heartbeat: 0 }), 'heartbeat', 'a positive number of milliseconds')
  refused(options({ ...KEY, maxClients: 0 }), 'maxClients')
  refused(options({ ...KEY, maxBytes: '1' }), 'maxBytes')
  refused(options({ ...KEY, onError: 1 }), 'onError', 'a function')
  refused(options({ ...KEY, lastEventId: 7 }), 'lastEventId', 'a string')
  refused(() => sendSSE(db.stream({ a: { sql: SQL } }) as never, raw, KEY as never), 'several queries')
  const sent = new FakeResponse()
  sent.headersSent = true
  refused(() => sendSSE(live, sent.raw, KEY), 'sent already')
  assert.equal(await openStreams(db), 0)
})
