import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { Database } from 'resqlite'
import { sendSSE } from 'resqlite/sse'
import { CLIENTS_PER_TURN, MAX_REST_MILLISECONDS, REST_PER_ROUND } from '../src/sse/limits'
import { Rounds } from '../src/sse/rounds'
import { collectGarbage } from './support/garbage'
import { type Child, start } from './support/process'
import type { Tools } from './support/process-tools'
import { random } from './support/random'
import { EventReader, FakeResponse, Replica, serve } from './support/sse'
import { tempDatabase } from './support/temp'

const SCHEMA = 'CREATE TABLE t(id INTEGER PRIMARY KEY, place REAL, v)'
const SQL = 'SELECT id, v FROM t ORDER BY place, id'
const KEY = { key: 'id' } as const

const nothing = () => {}
const openStreams = async (db: Database) => (await db.diagnostics()).streams.open
const asRows = (rows: readonly object[]) => JSON.stringify(rows)

/** A client that is slow, leaves and comes back, as the test says. It checks that each event leads on. */
class Client {
  readonly replica = new Replica()
  #response: FakeResponse | undefined
  #applied = 0

  constructor(readonly db: Database) {}

  get isThere(): boolean {
    return this.#response !== undefined
  }

  come(): void {
    this.#response = new FakeResponse(this.replica.id)
    this.#applied = 0
    const { db } = this
    void sendSSE(db.stream<{ id: number }>(SQL), this.#response.raw, KEY)
  }

  /** Goes; the last events may be lost on the way. */
  go(lost: number): void {
    this.#apply(lost)
    this.#response?.leave()
    this.#response = undefined
  }

  stop(): void {
    if (this.#response !== undefined) this.#response.stopped = true
  }

  /** Reads whatever comes until the rows are these. */
  async readUntil(expected: string): Promise<void> {
    const response = this.#response as FakeResponse
    response.drain()
    for (this.#apply(0); asRows(this.replica.rows) !== expected; this.#apply(0)) {
      await response.until(response.events.length + 1)
    }
  }

  #apply(lost: number): void {
    const events = this.#response?.events ?? []
    const end = Math.max(this.#applied, events.length - lost)
    for (const event of events.slice(this.#applied, end)) this.replica.apply(event)
    this.#applied = end
  }
}

// G154
test('whatever is written, clients that are slow, leave and come back all end with the result', async (t) => {
  const { seed, int, pick } = random()
  t.diagnostic(`seed ${seed}`)
  const db = await tempDatabase(t, SCHEMA)
  const clients = Array.from({ length: 12 }, () => new Client(db))
  const write = [
    () => db.execute('INSERT OR REPLACE INTO t VALUES (?, ?, ?)', [int(60), int(30), int(4)]),
    () => db.execute('DELETE FROM t WHERE id = ?', [int(60)]),
    () => db.execute('UPDATE t SET place = ? WHERE id = ?', [int(30), int(60)]),
    () => db.execute('UPDATE t SET v = ? WHERE place > ?', [int(4), 20 + int(10)]),
    () => db.execute('UPDATE t SET place = 30 - place WHERE id % 3 = 0'),
  ]
  for (let round = 0; round < 120; round++) {
    for (let i = int(6); i >= 0; i--) await pick(write)()
    for (const client of clients) {
      const does = int(10)
      if (!client.isThere) client.come()
      else if (does === 0) client.go(int(4))
      else if (does < 3) client.stop()
    }
    if (int(4) > 0) continue
    const expected = asRows(await db.select(SQL))
    const present = clients.filter(({ isThere }) => isThere)
    await Promise.all(present.map((client) => client.readUntil(expected)))
  }
  const expected = asRows(await db.select(SQL))
  for (const client of clients) {
    if (!client.isThere) client.come()
    await client.readUntil(expected)
    client.go(0)
  }
  const sent = clients.map(({ replica }) => replica.counts)
  const total = (name: string) => sent.reduce((sum, counts) => sum + (counts[name] ?? 0), 0)
  assert.ok(total('patch') > total('full'), `seed ${seed}`)
  while ((await openStreams(db)) > 0) await new Promise(setImmediate)
})

// G156
test('a client that never reads costs what it was sent first, however much is written', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { silent, reader } = await silentAndReader(db)
  for (let v = 0; v < 500; v++) await db.execute('INSERT OR REPLACE INTO t VALUES (?, 1, ?)', [v % 10, v])
  while (reader.rows.length < 10 || reader.rows[9]?.v !== 499) await reader.next()
  assert.equal(silent.events.length, 1)
  silent.leave()
  reader.leave()
})

async function silentAndReader(db: Database) {
  const [silent, response] = [new FakeResponse(), new FakeResponse()]
  silent.stopped = true
  for (const client of [silent, response]) void sendSSE(db.stream<{ id: number }>(SQL), client.raw, KEY)
  await silent.until(1)
  const replica = new Replica()
  let read = 0
  const next = async () => {
    const events = await response.until(read + 1)
    for (const event of events.slice(read)) replica.apply(event)
    read = events.length
  }
  const reader = {
    next,
    get rows() {
      return replica.rows
    },
    leave: () => response.leave(),
  }
  return { silent, reader }
}

// G157
test('of 300 clients 150 are killed: their parts are freed, and the others go on', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { origin, served, parts } = await trackedServer(t, db)
  const [killed, left] = ['/killed', '/left'].map((path) => start(t, manyClients, origin + path)) as [
    Child,
    Child,
  ]
  for (const child of [killed, left]) assert.equal(await child.line(), '150 clients')
  assert.equal(served(), 300)
  killed.kill()
  while (served() > 150) await new Promise(setImmediate)
  const held = () => parts.filter(({ path, ref }) => path === '/killed' && ref.deref() !== undefined).length
  // A reference that was looked at is held until the next turn.
  while (held() > 0) {
    await new Promise(setImmediate)
    collectGarbage()
  }
  await db.execute("INSERT INTO t VALUES (1, 1, 'after')")
  assert.equal(await left.line(), '150 told')
  assert.equal(await openStreams(db), 1)
  left.kill()
  while ((await openStreams(db)) > 0) await new Promise(setImmediate)
  assert.equal(served(), 0)
})

/** A server that keeps weak references to what it and `sendSSE` have for each client. */
async function trackedServer(t: TestContext, db: Database) {
  let served = 0
  const parts: { path: string; ref: WeakRef<object> }[] = []
  const { origin } = await serve(t, async (request, response) => {
    const path = request.url as string
    // The part of `sendSSE` refers to its own function.
    const onError = () => assert.fail(path)
    parts.push({ path, ref: new WeakRef(onError) }, { path, ref: new WeakRef(response) })
    served++
    await sendSSE(db.stream<{ id: number }>(SQL), response, { ...KEY, onError })
    served--
  })
  return { origin, served: () => served, parts }
}

/** 150 clients of an address, in another process. Says when all have an event, and when all have the text 'after'. */
async function manyClients({ say, never }: Tools, url: string) {
  const bodies = Array.from({ length: 150 }, async () => (await fetch(url)).body?.getReader())
  const readers = await Promise.all(bodies)
  const until = async (part: string) =>
    await Promise.all(
      readers.map(async (reader) => {
        for (let text = ''; !text.includes(part); )
          text += Buffer.from((await reader?.read())?.value ?? []).toString()
      }),
    )
  await until('event: full')
  say('150 clients')
  await until('after')
  say('150 told')
  await never()
}

// G156
test('a client over the network that reads nothing costs one event, and converges when it reads', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await db.exec(
    'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 200) INSERT INTO t SELECT id, id, 0 FROM n',
  )
  const write = (last: string) => db.execute('UPDATE t SET v = hex(randomblob(1000)) || ?', [last])
  const responses: Record<string, ServerResponse> = {}
  const { origin } = await serve(t, (request, response) => {
    responses[request.url as string] = response
    void sendSSE(db.stream<{ id: number }>(SQL), response, KEY)
  })
  const silent = request(`${origin}/silent`).end()
  const [unread] = (await once(silent, 'response')) as [IncomingMessage]
  const reader = await EventReader.open(`${origin}/reads`)
  const largest = { event: 0, queued: 0, sent: 0 }
  for (let i = 0; i < 40; i++) {
    await write('.')
    const size = (await reader.next())?.data.length ?? 0
    largest.sent += size
    largest.event = Math.max(largest.event, size)
    largest.queued = Math.max(largest.queued, responses['/silent']?.writableLength ?? 0)
  }
  t.diagnostic(JSON.stringify(largest))
  assert.ok(largest.queued > 0, 'the buffers of the system were full')
  assert.ok(largest.queued < 1.2 * largest.event)
  assert.ok(largest.event < largest.sent / 20)
  await write('the end')
  for (let text = ''; !text.includes('the end'); ) text = text.slice(-10) + (await once(unread, 'data'))[0]
  silent.destroy()
  reader.leave()
})

// G165
test('a round serves a few clients per turn of the event loop, also those that come, but none that left', async () => {
  const members = new Set(Array.from({ length: 300 }, (_, i) => i))
  const visited: number[] = []
  const rounds = new Rounds(members, (member) => visited.push(member), nothing)
  rounds.start()
  assert.ok(visited.length <= CLIENTS_PER_TURN)
  members.delete(299)
  members.add(300)
  while (visited.length < 300) await new Promise(setImmediate)
  assert.deepEqual(visited, [...members])
})

// G165
test('a round that becomes due during another one follows it, and two are one', async () => {
  const visited: number[] = []
  const members = new Set([0, 1])
  const again = (member: number) => {
    if (visited.push(member) <= 2) rounds.start()
  }
  const rounds = new Rounds(members, again, nothing)
  rounds.start()
  while (visited.length < 4) await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.deepEqual(visited, [0, 1, 0, 1])
})

// G165
test('after a round that took long, the next one waits for longer than that', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const visited: number[] = []
  const slowly = (member: number) => {
    visited.push(member)
    for (const end = performance.now() + 2; performance.now() < end; );
  }
  const rounds = new Rounds(new Set([0]), slowly, nothing)
  rounds.start()
  rounds.start()
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
  assert.deepEqual(visited, [0])
  t.mock.timers.tick(2 * REST_PER_ROUND - 1)
  assert.deepEqual(visited, [0])
  t.mock.timers.tick(MAX_REST_MILLISECONDS)
  assert.deepEqual(visited, [0, 0])
})
