import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { defineRelations, eq, sql } from 'drizzle-orm'
import { blob, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Database } from 'resqlite'
import { type RemoteRow, remoteQuery } from 'resqlite/client'
import { type DrizzleLiveQuery, drizzle, live } from 'resqlite/drizzle'
import { sendSSE, sseEvents } from 'resqlite/sse'
import { keyOf } from '../src/frameworks/source-key.mjs'
import { withCode } from './support/errors.js'
import { serve } from './support/sse.js'
import { tempDatabase } from './support/temp.js'

const users = sqliteTable('users', {
  id: integer().primaryKey(),
  name: text().notNull(),
  born: integer('born_at', { mode: 'timestamp_ms' }),
  tags: text({ mode: 'json' }).$type<{ list: string[]; none?: number }>(),
  photo: blob({ mode: 'buffer' }),
  score: blob({ mode: 'bigint' }),
})
const pets = sqliteTable('pets', { id: integer().primaryKey(), name: text().notNull(), owner: integer() })
const relations = defineRelations({ users, pets }, (r) => ({
  users: { pets: r.many.pets({ from: r.users.id, to: r.pets.owner }) },
}))

async function fixture(t: TestContext) {
  const client = await tempDatabase(
    t,
    `CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, born_at INTEGER, tags TEXT, photo BLOB, score BLOB);
     CREATE TABLE pets(id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner INTEGER);
     INSERT INTO users VALUES (1, 'Ada', 1000, '{"list":["math"]}', x'0102', '9223372036854775808'), (2, 'Tim', NULL, NULL, NULL, NULL);
     INSERT INTO pets VALUES (7, 'Rex', 1);`,
  )
  const db = drizzle({ client, relations })
  /** A new object for each request, as servers make them. */
  const joined = () =>
    live(db, db.select().from(users).leftJoin(pets, eq(pets.owner, users.id)).orderBy(users.id))
  const names = () => live(db, db.select({ id: users.id, name: users.name }).from(users))
  return { client, db, joined, names }
}

/** The next event of an iterator, without what is different each time. */
async function eventOf(events: AsyncIterator<{ event: string; id?: string; data: string }>) {
  const { value, done } = await events.next()
  assert.ok(!done)
  return { name: value.event, id: value.id, data: value.data, patch: JSON.parse(value.data) }
}

// G397
test('sendSSE sends what Drizzle makes of the rows, where names collide, too, and patches by key', async (t) => {
  const { db, joined } = await fixture(t)
  const { origin } = await serve(
    t,
    (_, response) => void sendSSE(joined(), response, { key: ['users.id', 'pets.id'] }),
  )
  const remote = remoteQuery<RemoteRow<typeof joined>>(origin)
  const values: (typeof remote.current)[] = []
  let arrived = () => {}
  const stop = remote.subscribe((rows) => {
    values.push(rows)
    arrived()
  })
  const next = async (count: number) => {
    while (values.length < count) {
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
    }
  }
  await next(1)
  const tim = { id: 2, name: 'Tim', born: null, tags: null, photo: null, score: null }
  assert.deepEqual(values[0], [
    {
      users: {
        id: 1,
        name: 'Ada',
        born: '1970-01-01T00:00:01.000Z',
        tags: { list: ['math'] },
        photo: 'AQI=',
        score: 2 ** 63,
      },
      pets: { id: 7, name: 'Rex', owner: 1 },
    },
    { users: tim, pets: null },
  ])
  await db.update(pets).set({ name: 'Max' })
  await next(2)
  assert.equal(values[1]?.[0]?.pets?.name, 'Max')
  assert.equal(values[1]?.[1], values[0]?.[1])
  stop()
})

// G397
test('integers beyond 2⁵³ have all digits on the wire', async (t) => {
  const { joined } = await fixture(t)
  const events = sseEvents(joined(), { key: 'users.id' })
  assert.match((await eventOf(events)).data, /"score":9223372036854775808\b/)
  await events.return()
})

// G398
test('a client that comes back to an equal query of Drizzle gets what it missed', async (t) => {
  const { db, joined } = await fixture(t)
  const options = { key: 'users.id' } as const
  const stays = sseEvents(joined(), options)
  await eventOf(stays)
  const left = sseEvents(joined(), options)
  const { id } = await eventOf(left)
  await left.return()
  await db.update(users).set({ name: 'Tom' }).where(eq(users.id, 2))
  const missed = await eventOf(stays)
  const back = sseEvents(joined(), { ...options, lastEventId: id })
  assert.deepEqual(await eventOf(back), missed)
  assert.deepEqual([missed.name, missed.patch.updated.length], ['patch', 1])
  await Promise.all([stays.return(), back.return()])
})

// G397
test('queries of the same SQL that Drizzle maps otherwise are sent as each maps', async (t) => {
  const { db } = await fixture(t)
  const dates = sqliteTable('users', { id: integer(), born: integer('born_at', { mode: 'timestamp' }) })
  const plain = sqliteTable('users', { id: integer(), born: integer('born_at') })
  const queries = [
    live(db, db.select({ id: plain.id, born: plain.born }).from(plain)),
    live(db, db.select({ id: plain.id, when: plain.born }).from(plain)),
    live(db, db.select({ id: dates.id, born: dates.born }).from(dates)),
    live(db, db.select({ id: plain.id, born: sql`${plain.born}`.mapWith(String) }).from(plain)),
  ]
  const sent = queries.map((query) => sseEvents(query as DrizzleLiveQuery<{ id: number }[]>, { key: 'id' }))
  const firsts = await Promise.all(sent.map((events) => eventOf(events)))
  assert.deepEqual(
    firsts.map(({ patch }) => patch.added[0].row),
    [
      { id: 1, born: 1000 },
      { id: 1, when: 1000 },
      { id: 1, born: '1970-01-01T00:16:40.000Z' },
      { id: 1, born: '1000' },
    ],
  )
  await Promise.all(sent.map((events) => events.return()))
})

// G397
test('a relational query is sent with what is nested in it', async (t) => {
  const { db } = await fixture(t)
  const people = () => live(db, db.query.users.findMany({ columns: { id: true }, with: { pets: true } }))
  const row: RemoteRow<typeof people> = { id: 1, pets: [{ id: 7, name: 'Rex', owner: 1 }] }
  const events = sseEvents(people(), { key: 'id' })
  assert.deepEqual((await eventOf(events)).patch.added[0], { index: 0, row })
  await db.delete(pets)
  assert.deepEqual((await eventOf(events)).patch.updated, [
    { from: 0, index: 0, previous: row, row: { id: 1, pets: [] } },
  ])
  await events.return()
})

// G398
test('patchesBytes has the same JSON, and equal queries share it', async (t) => {
  const { joined } = await fixture(t)
  const [one, other] = [
    joined().patchesBytes({ key: 'users.id' }),
    joined().patchesBytes({ key: 'users.id' }),
  ]
  const events = sseEvents(joined(), { key: 'users.id' })
  const { bytes } = (await one.next()).value
  assert.equal((await other.next()).value.bytes, bytes)
  assert.equal((await eventOf(events)).data, Buffer.from(bytes).toString())
  await Promise.all([one.return(), other.return(), events.return()])
})

// G398
test('patches in place keep one array of what Drizzle makes', async (t) => {
  const { db, names } = await fixture(t)
  const patches = names().patches({ key: 'id', rows: 'inPlace' })
  const { rows } = (await patches.next()).value
  const [, tim] = rows
  await db.insert(users).values({ name: 'Eve' })
  await patches.next()
  await db.delete(users).where(eq(users.id, 1))
  assert.equal((await patches.next()).value.rows, rows)
  assert.deepEqual(rows, [tim, { id: 3, name: 'Eve' }])
  assert.equal(rows[0], tim)
  await patches.return()
})

// G398
test('equal queries of Drizzle are equal for components, and those with other names are not', async (t) => {
  const { db, joined, names } = await fixture(t)
  const keys = [joined(), joined(), names(), names()].map(keyOf)
  assert.equal(keys[0], keys[1])
  assert.equal(keys[2], keys[3])
  const renamed = live(db, db.select({ id: users.id, called: users.name }).from(users))
  assert.equal(new Set([...keys, keyOf(renamed)]).size, 3)
})

// G397
test('what has no rows with a key is refused by name, before anything is sent', async (t) => {
  const { db, joined } = await fixture(t)
  const refuses = (query: unknown, key: unknown, message: string) =>
    assert.throws(() => sseEvents(query as never, { key } as never), withCode('RESQLITE_OPTION', message))
  // @ts-expect-error the types know the paths
  void (() => sseEvents(joined(), { key: 'id' }))
  refuses(joined(), 'id', 'sseEvents: option key must be one of "users.id", "users.name"')
  refuses(live(db, db.query.users.findFirst()), 'id', 'many rows')
  refuses(live(db, db.$count(users)), 'id', 'many rows')
})

// G397
test('a value that Drizzle cannot read ends the events of its clients, and nothing else', async (t) => {
  const { client, joined, names } = await fixture(t)
  const broken = sseEvents(joined(), { key: 'users.id' })
  const fine = sseEvents(names(), { key: 'id' })
  await Promise.all([eventOf(broken), eventOf(fine)])
  await breakTags(client)
  assert.deepEqual((await eventOf(broken)).patch, { code: 'RESQLITE_RESULT' })
  assert.equal((await eventOf(fine)).patch.updated[0].row.name, 'Eve')
  await fine.return()
})

// G397
test('a value that Drizzle cannot read is the error of who asks Drizzle, and of no other', async (t) => {
  const { client, db } = await fixture(t)
  const query = db.select().from(users)
  const mapped = live(db, query)[Symbol.asyncIterator]()
  const plain = client.stream(query.toSQL().sql, [], { arrays: true })[Symbol.asyncIterator]()
  await Promise.all([mapped.next(), plain.next()])
  await breakTags(client)
  await assert.rejects(mapped.next(), SyntaxError)
  assert.equal((await plain.next()).value[0][1], 'Eve')
  await plain.return()
})

/** Writes JSON that is none. */
const breakTags = (client: Database) =>
  client.execute("UPDATE users SET tags = '{', name = 'Eve' WHERE id = 1")
