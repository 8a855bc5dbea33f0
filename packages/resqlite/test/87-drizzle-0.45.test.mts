import './support/drizzle-0.45.mjs'

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { asc, eq, gte, relations, sql } from 'drizzle-orm-0.45'
import { blob, integer, sqliteTable, text } from 'drizzle-orm-0.45/sqlite-core'
import { Database } from 'resqlite'
import { createClient } from 'resqlite/libsql'
import { sseEvents } from 'resqlite/sse'
import { tempFile, tempFolder } from './support/temp.js'

const users = sqliteTable('users', {
  id: integer().primaryKey(),
  name: text().notNull(),
  age: integer().notNull(),
  born: integer({ mode: 'timestamp_ms' }),
  tags: text({ mode: 'json' }).$type<string[]>(),
  photo: blob({ mode: 'buffer' }),
})
const pets = sqliteTable('pets', {
  id: integer().primaryKey(),
  name: text().notNull(),
  owner: integer()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' }),
})
const usersRelations = relations(users, ({ many }) => ({ pets: many(pets) }))
const petsRelations = relations(pets, ({ one }) => ({
  keeper: one(users, { fields: [pets.owner], references: [users.id] }),
}))
const schema = { users, pets, usersRelations, petsRelations }

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER NOT NULL, born INTEGER, tags TEXT, photo BLOB);
  CREATE TABLE pets(id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner INTEGER NOT NULL REFERENCES users ON DELETE CASCADE);
  INSERT INTO users(name, age, born, tags, photo) VALUES ('Ada', 36, 1000, '["math"]', x'01'), ('Tim', 9, NULL, NULL, NULL);
  INSERT INTO pets(name, owner) VALUES ('Rex', 1);`

async function setUp(t: TestContext) {
  const { drizzle, live, migrate } = await import('resqlite/libsql/drizzle')
  const database = await Database.open(tempFile(t))
  await database.exec(SCHEMA)
  const client = createClient({ database })
  t.after(() => database.close())
  return { db: drizzle({ client, schema }), live, migrate, drizzle, database }
}

/** The values of a live query, one at a time. */
async function nextOf<T>(values: AsyncIterator<T>): Promise<T> {
  const { value, done } = await values.next()
  assert.ok(!done)
  return value as T
}

// G391
test('builders read and write what the schema says', async (t) => {
  const { db } = await setUp(t)
  const { rowsAffected, lastInsertRowid } = await db
    .insert(users)
    .values({ name: 'Grace', age: 85, tags: ['navy'] })
  assert.deepEqual([rowsAffected, lastInsertRowid], [1, 3n])
  const adults = await db.select().from(users).where(gte(users.age, 18)).orderBy(asc(users.id))
  assert.deepEqual(adults, [
    { id: 1, name: 'Ada', age: 36, born: new Date(1000), tags: ['math'], photo: Buffer.from([1]) },
    { id: 3, name: 'Grace', age: 85, born: null, tags: ['navy'], photo: null },
  ])
  assert.deepEqual(await db.delete(users).where(eq(users.id, 3)).returning({ name: users.name }), [
    { name: 'Grace' },
  ])
  assert.deepEqual(await db.all(sql`SELECT name FROM users`), [{ name: 'Ada' }, { name: 'Tim' }])
  assert.equal(await db.$count(users), 2)
})

test('a client is made of a URL or of a configuration, too', async (t) => {
  const { drizzle } = await setUp(t)
  const url = `file:${tempFile(t)}`
  for (const db of [drizzle(url), drizzle({ connection: url }), drizzle({ connection: { url } })]) {
    assert.deepEqual(await db.all(sql`SELECT 1 AS one`), [{ one: 1 }])
    db.$client.close()
  }
})

// G391
test('relational queries nest what belongs together', async (t) => {
  const { db } = await setUp(t)
  const found = await db.query.users.findMany({ columns: { name: true }, with: { pets: true } })
  assert.deepEqual(found, [
    { name: 'Ada', pets: [{ id: 1, name: 'Rex', owner: 1 }] },
    { name: 'Tim', pets: [] },
  ])
})

// G391
test('transactions commit, roll back and nest', async (t) => {
  const { db } = await setUp(t)
  await db.transaction(async (tx) => {
    await tx.insert(pets).values({ name: 'Tom', owner: 1 })
    await assert.rejects(
      tx.transaction(async (nested) => {
        await nested.delete(pets)
        nested.rollback()
      }),
    )
    await tx.transaction((nested) => nested.update(pets).set({ name: 'Max' }).where(eq(pets.name, 'Rex')))
    assert.equal(await db.$count(pets), 1, 'others do not see it')
  })
  const names = await db.select({ name: pets.name }).from(pets)
  assert.deepEqual(names, [{ name: 'Max' }, { name: 'Tom' }])
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.delete(pets)
      throw new Error('no')
    }),
    { message: 'no' },
  )
  assert.equal(await db.$count(pets), 2)
})

// G391
test('a batch gives the result of each query, all or nothing', async (t) => {
  const { db } = await setUp(t)
  const [, all, first] = await db.batch([
    db.insert(pets).values({ name: 'Tom', owner: 1 }),
    db.select({ name: pets.name }).from(pets),
    db.query.users.findFirst({ columns: { name: true } }),
  ])
  assert.deepEqual([all, first], [[{ name: 'Rex' }, { name: 'Tom' }], { name: 'Ada' }])
  const nobody = db.batch([db.delete(pets), db.insert(pets).values({ name: 'Max', owner: 99 })])
  await assert.rejects(nobody, { code: 'SQLITE_CONSTRAINT' })
  assert.equal(await db.$count(pets), 2)
})

// G391
test('a migration that rebuilds a table runs once, and loses no rows that refer to it', async (t) => {
  const { db, migrate } = await setUp(t)
  const migrationsFolder = tempFolder(t)
  const statements = [
    'PRAGMA foreign_keys=OFF;',
    'CREATE TABLE `__new_users` (`id` integer PRIMARY KEY, `name` text);',
    'INSERT INTO `__new_users` SELECT `id`, `name` FROM `users`;',
    'DROP TABLE `users`;',
    'ALTER TABLE `__new_users` RENAME TO `users`;',
    'PRAGMA foreign_keys=ON;',
  ]
  mkdirSync(join(migrationsFolder, 'meta'))
  const entries = [{ idx: 0, version: '6', when: 1, tag: '0000_new', breakpoints: true }]
  writeFileSync(join(migrationsFolder, 'meta', '_journal.json'), JSON.stringify({ version: '7', entries }))
  writeFileSync(join(migrationsFolder, '0000_new.sql'), statements.join('\n--> statement-breakpoint\n'))
  for (let run = 0; run < 2; run++) await migrate(db, { migrationsFolder })
  assert.equal(await db.$count(pets), 1)
  assert.equal(await db.$count(sql`__drizzle_migrations`), 1)
})

// G391
test('a live query has what Drizzle makes of the rows, and keeps those that did not change', async (t) => {
  const { db, live } = await setUp(t)
  const values = live(db, db.select().from(users).orderBy(asc(users.id))).values()
  const [ada, tim] = await nextOf(values)
  assert.deepEqual([ada?.tags, ada?.born], [['math'], new Date(1000)])
  await db.update(users).set({ age: 10 }).where(eq(users.name, 'Tim'))
  const next = await nextOf(values)
  assert.deepEqual([next[0] === ada, next[1] === tim, next[1]?.age], [true, false, 10])
  await values.return?.()
})

// G391
test('a live relational query, a live $count and live SQL follow writes', async (t) => {
  const { db, live } = await setUp(t)
  const nested = live(db, db.query.users.findFirst({ with: { pets: true } })).values()
  const count = live(db, db.$count(pets)).values()
  const raw = live(db, db.all<{ name: string }>(sql`SELECT name FROM pets`)).values()
  const seen = async () => [
    (await nextOf(nested))?.pets.length,
    await nextOf(count),
    (await nextOf(raw)).length,
  ]
  assert.deepEqual(await seen(), [1, 1, 1])
  await db.insert(pets).values({ name: 'Tom', owner: 1 })
  assert.deepEqual(await seen(), [2, 2, 2])
  await Promise.all([nested.return?.(), count.return?.(), raw.return?.()])
})

// G391
test('patches of a live query name their key as Drizzle does', async (t) => {
  const { db, live } = await setUp(t)
  const joined = db.select().from(users).innerJoin(pets, eq(pets.owner, users.id))
  const patches = live(db, joined).patches({ key: ['users.id', 'pets.id'] })
  assert.equal((await nextOf(patches)).added[0]?.row.pets.name, 'Rex')
  await db.update(pets).set({ name: 'Max' })
  const { updated } = await nextOf(patches)
  assert.deepEqual([updated[0]?.previous.pets.name, updated[0]?.row.pets.name], ['Rex', 'Max'])
  await patches.return?.()
})

// G398
test('sseEvents sends what Drizzle makes of the rows, and patches by key; equal queries share them', async (t) => {
  const { db, live } = await setUp(t)
  const joined = () =>
    live(db, db.select().from(users).leftJoin(pets, eq(pets.owner, users.id)).where(eq(users.id, 1)))
  const key = ['users.id', 'pets.id'] as const
  const [events, left] = [sseEvents(joined(), { key }), sseEvents(joined(), { key })]
  const { data } = await nextOf(events)
  const ada = { id: 1, name: 'Ada', age: 36, born: '1970-01-01T00:00:01.000Z', tags: ['math'], photo: 'AQ==' }
  assert.deepEqual(JSON.parse(data).added, [
    { index: 0, row: { users: ada, pets: { id: 1, name: 'Rex', owner: 1 } } },
  ])
  const lastEventId = (await nextOf(left)).id
  await left.return()
  await db.update(pets).set({ name: 'Max' })
  const patch = await nextOf(events)
  assert.equal(JSON.parse(patch.data).updated[0].row.pets.name, 'Max')
  const back = sseEvents(joined(), { key, lastEventId })
  assert.deepEqual(await nextOf(back), patch)
  await Promise.all([events.return(), back.return()])
})

// G397
test('a relational query is sent with what is nested in it, and one of the first row is refused', async (t) => {
  const { db, live } = await setUp(t)
  const events = sseEvents(live(db, db.query.users.findMany({ with: { pets: true } })), { key: 'id' })
  assert.equal(JSON.parse((await nextOf(events)).data).added[0].row.pets[0].name, 'Rex')
  await events.return()
  const first = live(db, db.query.users.findFirst())
  assert.throws(() => sseEvents(first as never, { key: 'id' } as never), { code: 'RESQLITE_OPTION' })
})

test('live needs a client whose database is open, and a query of Drizzle', async (t) => {
  const { db, drizzle, live } = await setUp(t)
  const closed = drizzle({ connection: { url: ':memory:' } })
  assert.throws(() => live(closed, closed.select().from(users)), { code: 'RESQLITE_OPTION' })
  assert.throws(() => live(db, Promise.resolve(1)), { code: 'RESQLITE_STATEMENT' })
})
