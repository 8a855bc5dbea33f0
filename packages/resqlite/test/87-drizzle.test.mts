import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DrizzleQueryError, defineRelations, eq, gt, sql, TransactionRollbackError } from 'drizzle-orm'
import { Cache } from 'drizzle-orm/cache/core'
import { blob, integer, numeric, sqliteTable, text, withReplicas } from 'drizzle-orm/sqlite-core'
import { AbortError, type Database, type OpenOptions } from 'resqlite'
import { drizzle, live, migrate, type ResqliteDatabase, type ResqliteDrizzleConfig } from 'resqlite/drizzle'
import { ENDLESS, gate, withCode } from './support/errors.js'
import { quiet } from './support/live.js'
import { openDatabase, tempDatabase, tempFile, tempFolder } from './support/temp.js'

const users = sqliteTable('users', {
  id: integer().primaryKey(),
  name: text().notNull().unique(),
  age: integer(),
})
const pets = sqliteTable('pets', {
  id: integer().primaryKey(),
  name: text().notNull(),
  owner: integer().references(() => users.id, { onDelete: 'cascade' }),
})
const relations = defineRelations({ users, pets }, (r) => ({
  users: { pets: r.many.pets({ from: r.users.id, to: r.pets.owner }) },
  pets: { person: r.one.users({ from: r.pets.owner, to: r.users.id }) },
}))

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER);
  CREATE TABLE pets(id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner INTEGER REFERENCES users(id) ON DELETE CASCADE);
  INSERT INTO users(name, age) VALUES ('Ada', 36), ('Grace', 85);
  INSERT INTO pets(name, owner) VALUES ('Rex', 1), ('Tom', 2);
`

type Config = Omit<ResqliteDrizzleConfig<typeof relations>, 'client' | 'relations'>
type Drizzle = ResqliteDatabase<typeof relations>

async function fixture(
  t: TestContext,
  config?: Config,
  options?: OpenOptions,
): Promise<{ client: Database; db: Drizzle }> {
  const client = await tempDatabase(t, SCHEMA, options)
  return { client, db: drizzle({ client, relations, ...config }) }
}

const names = async (db: Pick<Drizzle, 'select'>) =>
  (await db.select({ name: users.name }).from(users).orderBy(users.id)).map(({ name }) => name)

/** A value that `live` gives, and the same after a write. */
async function beforeAndAfter<V>(
  values: AsyncIterable<V>,
  client: Database,
  write: () => PromiseLike<unknown>,
): Promise<[V, V]> {
  const iterator = values[Symbol.asyncIterator]()
  const before = await iterator.next()
  await quiet(client)
  await write()
  const after = await iterator.next()
  await iterator.return?.()
  return [before.value, after.value]
}

// G268
test('builders read and write', async (t) => {
  const { db } = await fixture(t)
  const inserted = await db.insert(users).values({ name: 'Barbara', age: 1 })
  assert.equal(inserted.lastInsertRowid, 3)
  assert.equal((await db.update(users).set({ age: 4 }).where(gt(users.id, 1))).changes, 2)
  const returned = await db.delete(users).where(eq(users.id, 3)).returning()
  assert.deepEqual(returned, [{ id: 3, name: 'Barbara', age: 4 }])
  const joined = await db
    .select()
    .from(users)
    .innerJoin(pets, eq(pets.owner, users.id))
    .where(eq(users.id, 2))
    .get()
  assert.deepEqual(joined, {
    users: { id: 2, name: 'Grace', age: 4 },
    pets: { id: 2, name: 'Tom', owner: 2 },
  })
  assert.equal(await db.select().from(users).where(eq(users.id, 9)).get(), undefined)
  assert.deepEqual(await db.select().from(pets).values(), [
    [1, 'Rex', 1],
    [2, 'Tom', 2],
  ])
  assert.equal(await db.$count(users, eq(users.name, 'Ada')), 1)
})

// G268
test('raw SQL goes where it belongs, whatever it begins with', async (t) => {
  const { db } = await fixture(t)
  const counted = sql`/* how many */ WITH u AS (SELECT * FROM users) SELECT count(*) AS n FROM u`
  assert.deepEqual(await db.all(counted), [{ n: 2 }])
  assert.deepEqual(await db.get(counted), { n: 2 })
  assert.deepEqual(await db.values(counted), [[2]])
  assert.equal((await db.run(sql`UPDATE users SET age = ${7}`)).changes, 2)
  assert.deepEqual(await db.all(sql`DELETE FROM pets RETURNING name`), [{ name: 'Rex' }, { name: 'Tom' }])
  assert.equal((await db.all(sql`PRAGMA table_info(users)`)).length, 3)
})

// G268
test('a prepared query takes values for its placeholders', async (t) => {
  const { db } = await fixture(t)
  const byName = db
    .select()
    .from(users)
    .where(eq(users.name, sql.placeholder('name')))
    .prepare()
  assert.deepEqual(await byName.get({ name: 'Grace' }), { id: 2, name: 'Grace', age: 85 })
  assert.deepEqual(await byName.all({ name: 'nobody' }), [])
})

// G268
test('columns get the types that the schema gives them, whatever type integers come in', async (t) => {
  const things = sqliteTable('things', {
    flag: integer({ mode: 'boolean' }),
    seconds: integer({ mode: 'timestamp' }),
    milliseconds: integer({ mode: 'timestamp_ms' }),
    json: text({ mode: 'json' }),
    bytes: blob({ mode: 'buffer' }),
    big: blob({ mode: 'bigint' }),
    exact: numeric(),
    number: numeric({ mode: 'number' }),
  })
  const thing = {
    flag: true,
    seconds: new Date(5000),
    milliseconds: new Date(5001),
    json: { list: [1, null] },
    bytes: Buffer.from([0, 1]),
    big: 2n ** 70n,
    exact: '12.5',
    number: 12,
  }
  for (const integers of ['auto', 'bigint'] as const) {
    const { client, db } = await fixture(t, {}, { integers })
    await client.exec(
      'CREATE TABLE things(flag, seconds, milliseconds, json, bytes, big, exact NUMERIC, number NUMERIC)',
    )
    await db.insert(things).values(thing)
    assert.deepEqual(await db.select().from(things).get(), thing)
    assert.equal(await db.$count(things), 1)
  }
})

// G268
test('relational queries nest what belongs together', async (t) => {
  const { db } = await fixture(t)
  assert.deepEqual(
    await db.query.users.findMany({ columns: { name: true }, with: { pets: true }, orderBy: { id: 'asc' } }),
    [
      { name: 'Ada', pets: [{ id: 1, name: 'Rex', owner: 1 }] },
      { name: 'Grace', pets: [{ id: 2, name: 'Tom', owner: 2 }] },
    ],
  )
  const rex = await db.query.pets.findFirst({ where: { name: 'Rex' }, with: { person: true } })
  assert.equal(rex?.person?.name, 'Ada')
  assert.equal(await db.query.pets.findFirst({ where: { name: 'nobody' } }), undefined)
})

// G268
test('errors are those of Drizzle, with that of resqlite as their cause', async (t) => {
  const { db } = await fixture(t)
  await assert.rejects(db.insert(users).values({ name: 'Ada' }), (error) => {
    assert(error instanceof DrizzleQueryError)
    return withCode('SQLITE_CONSTRAINT_UNIQUE')(error.cause as Error)
  })
  const wrong = db.run(sql`INSERT INTO users(name) VALUES (${new Date()})`)
  await assert.rejects(wrong, (error: Error) => withCode('RESQLITE_PARAMETER')(error.cause as Error))
})

// G269
test('a transaction commits what its body did and gives what it returned', async (t) => {
  const { db } = await fixture(t)
  const count = await db.transaction(async (tx) => {
    await tx.insert(users).values({ name: 'Barbara' })
    assert.equal(await tx.$count(users), 3)
    assert.equal((await tx.query.users.findMany()).length, 3)
    return await db.$count(users) // joins
  })
  assert.equal(count, 3)
  assert.deepEqual(await names(db), ['Ada', 'Grace', 'Barbara'])
})

// G269
test('a body that throws rolls back, and so does rollback()', async (t) => {
  const { db } = await fixture(t)
  const mine = new Error('mine')
  const throwing = db.transaction(async (tx) => {
    await tx.delete(users)
    throw mine
  })
  await assert.rejects(throwing, (error) => error === mine)
  const rolledBack = db.transaction(async (tx) => {
    await tx.delete(users)
    tx.rollback()
  })
  await assert.rejects(rolledBack, TransactionRollbackError)
  assert.deepEqual(await names(db), ['Ada', 'Grace'])
})

// G269
test('a nested transaction is a savepoint', async (t) => {
  const { db } = await fixture(t)
  await db.transaction(async (tx) => {
    await tx.insert(users).values({ name: 'Barbara' })
    const inner = tx.transaction(async (inner) => {
      await inner.insert(users).values({ name: 'Edsger' })
      await inner.transaction((innermost) => innermost.insert(users).values({ name: 'Tony' }))
      inner.rollback()
    })
    await assert.rejects(inner, TransactionRollbackError)
    await tx.transaction((inner) => inner.insert(users).values({ name: 'Niklaus' }))
  })
  assert.deepEqual(await names(db), ['Ada', 'Grace', 'Barbara', 'Niklaus'])
})

// G269
test('a transaction takes the options of resqlite', async (t) => {
  const { db } = await fixture(t)
  await db.transaction((tx) => tx.insert(users).values({ name: 'Barbara' }), { behavior: 'immediate' })
  const late = db.transaction(() => new Promise<never>(() => {}), { timeout: 1 })
  await assert.rejects(late, withCode('RESQLITE_TIMEOUT'))
  const concurrent = db.transaction(() => Promise.resolve(), { behavior: 'concurrent' })
  await assert.rejects(concurrent, withCode('RESQLITE_OPTION', 'concurrent'))
})

// G269
test('reads run while a transaction is open, and do not see it', async (t) => {
  const { db } = await fixture(t)
  const [written, looked] = [gate(), gate()]
  const run = db.transaction(async (tx) => {
    await tx.delete(users)
    written.open()
    await looked.promise
  })
  await written.promise
  assert.deepEqual(await names(db), ['Ada', 'Grace'])
  looked.open()
  await run
  assert.deepEqual(await names(db), [])
})

// G270
test('a batch gives the result of each query, mapped as alone', async (t) => {
  const { db } = await fixture(t)
  const [inserted, returned, all, first, everybody, raw, one, pairs] = await db.batch([
    db.insert(users).values({ name: 'Barbara' }),
    db.update(users).set({ age: 1 }).where(eq(users.name, 'Barbara')).returning({ age: users.age }),
    db.select().from(users).where(gt(users.id, 2)),
    db.query.users.findFirst({ where: { id: 1 }, with: { pets: true } }),
    db.query.users.findMany({ columns: { name: true }, orderBy: { id: 'asc' } }),
    db.all(sql`SELECT id, name FROM pets ORDER BY id`),
    db.get(sql`SELECT name FROM pets`),
    db.values(sql`SELECT id, name FROM pets ORDER BY id`),
  ])
  assert.equal(inserted.lastInsertRowid, 3)
  assert.deepEqual(returned, [{ age: 1 }])
  assert.deepEqual(all, [{ id: 3, name: 'Barbara', age: 1 }])
  assert.deepEqual(first?.pets, [{ id: 1, name: 'Rex', owner: 1 }])
  assert.deepEqual(everybody, [{ name: 'Ada' }, { name: 'Grace' }, { name: 'Barbara' }])
  assert.deepEqual(raw, [
    { id: 1, name: 'Rex' },
    { id: 2, name: 'Tom' },
  ])
  assert.deepEqual(one, { name: 'Rex' })
  assert.deepEqual(pairs, [
    [1, 'Rex'],
    [2, 'Tom'],
  ])
})

// G270
test('a batch is all or nothing, also in a transaction', async (t) => {
  const { db } = await fixture(t)
  const queries = () => [db.delete(pets), db.insert(users).values({ name: 'Ada' })] as const
  await assert.rejects(db.batch(queries()), { code: 'SQLITE_CONSTRAINT_UNIQUE', index: 1 })
  await db.transaction(async (tx) => {
    await assert.rejects(tx.batch(queries()), { code: 'SQLITE_CONSTRAINT_UNIQUE' })
    assert.equal(await tx.$count(pets), 2)
    await tx.batch([tx.insert(pets).values({ name: 'Kit' }), tx.insert(pets).values({ name: 'Pip' })])
  })
  assert.equal(await db.$count(pets), 4)
  await assert.rejects(
    db.batch(['SELECT 1' as never]),
    withCode('RESQLITE_STATEMENT', 'not a query of Drizzle'),
  )
})

// G268
test('a cache is invalidated by writes, those of a batch, too', async (t) => {
  const mutated: unknown[] = []
  class Log extends Cache {
    override strategy = () => 'explicit' as const
    override get = async () => undefined
    override put = async () => {}
    override onMutate = async ({ tables }: { tables?: unknown }) => void mutated.push(tables)
  }
  const { db } = await fixture(t, { cache: new Log() })
  await db.insert(users).values({ name: 'Barbara' })
  await db.batch([db.select().from(users), db.delete(pets)])
  assert.deepEqual(mutated, [['users'], ['pets']])
})

// G268
test('the logger sees every query, those of a batch, too', async (t) => {
  const log: [string, unknown[]][] = []
  const { db } = await fixture(t, { logger: { logQuery: (sql, params) => void log.push([sql, params]) } })
  await db.$count(users)
  await db.batch([db.delete(pets).where(eq(pets.id, 1))])
  assert.deepEqual(log, [
    ['select count(*) from "users"', []],
    ['delete from "pets" where "pets"."id" = ?', [1]],
  ])
})

// G268
test('a signal cancels the queries that are made with it', async (t) => {
  const { db } = await fixture(t)
  const controller = new AbortController()
  const endless = db.withSignal(controller.signal).all(sql.raw(ENDLESS))
  const cancelled = assert.rejects(endless, (error: Error) => error.cause instanceof AbortError)
  controller.abort()
  await cancelled
  assert.equal(await db.$count(users), 2)
})

// G268
test('a database with replicas, as Drizzle makes it, has all methods', async (t) => {
  const [{ db }, { db: replica }] = [await fixture(t), await fixture(t)]
  const both = withReplicas(db, [replica])
  await both.batch([db.delete(pets)])
  await both.transaction((tx) => tx.delete(users))
  assert.deepEqual(await names(both.withSignal(new AbortController().signal)), [])
  assert.deepEqual(await names(both.$replica), ['Ada', 'Grace'])
})

test('drizzle needs an open database', () => {
  assert.throws(() => drizzle({ client: 'app.db' as never }), withCode('RESQLITE_OPTION', 'Database.open'))
})

// G399
test('select and stream of resqlite refuse a join of Drizzle whose columns collide, and live takes it', async (t) => {
  const { client, db } = await fixture(t)
  const joined = db.select().from(users).innerJoin(pets, eq(pets.owner, users.id))
  await assert.rejects(client.select(joined), withCode('RESQLITE_RESULT', '"id"'))
  await assert.rejects(client.stream(joined).values().next(), withCode('RESQLITE_RESULT', '"id"'))
  assert.deepEqual(await client.select(db.select().from(pets).limit(1)), [{ id: 1, name: 'Rex', owner: 1 }])
  const rows = live(db, joined).values()
  assert.equal((await rows.next()).value[0].pets.name, 'Rex')
  await rows.return()
})

// G272
test('a live query has the rows of a select, and keeps those that did not change', async (t) => {
  const { client, db } = await fixture(t)
  const query = db
    .select({ person: users, pet: pets.name })
    .from(users)
    .innerJoin(pets, eq(pets.owner, users.id))
  const rows = live(db, query.orderBy(users.id))
  const write = () => db.update(pets).set({ name: 'Max' }).where(eq(pets.owner, 2))
  const [before, after] = await beforeAndAfter(rows, client, write)
  assert.deepEqual(after, [
    { person: { id: 1, name: 'Ada', age: 36 }, pet: 'Rex' },
    { person: { id: 2, name: 'Grace', age: 85 }, pet: 'Max' },
  ])
  assert.equal(after[0], before[0])
  assert.equal(before[1]?.pet, 'Tom')
})

// G272
test('a live relational query follows what is nested in it, and keeps the rows that did not change', async (t) => {
  const { client, db } = await fixture(t)
  const rows = live(db, db.query.users.findMany({ with: { pets: true }, orderBy: { id: 'asc' } }))
  const [before, after] = await beforeAndAfter(rows, client, () =>
    db.insert(pets).values({ name: 'Kit', owner: 2 }),
  )
  assert.deepEqual(
    after.map((user) => user.pets.map(({ name }) => name)),
    [['Rex'], ['Tom', 'Kit']],
  )
  assert.equal(after[0], before[0])
})

// G279
test('a live query has patches with what Drizzle makes of the rows', async (t) => {
  const { client, db } = await fixture(t)
  const query = live(db, db.select().from(users).orderBy(users.name))
  const [first, second] = await beforeAndAfter(query.patches({ key: 'id' }), client, () =>
    db.batch([
      db.update(users).set({ age: 37 }).where(eq(users.id, 1)),
      db.insert(users).values({ name: 'Barbara', age: 1 }),
    ]),
  )
  const [ada, grace] = first.rows
  assert.deepEqual(first.added, [
    { index: 0, row: { id: 1, name: 'Ada', age: 36 } },
    { index: 1, row: { id: 2, name: 'Grace', age: 85 } },
  ])
  const barbara = { id: 3, name: 'Barbara', age: 1 }
  assert.deepEqual(second.added, [{ index: 1, row: barbara }])
  assert.deepEqual(second.updated, [
    { from: 0, index: 0, previous: { id: 1, name: 'Ada', age: 36 }, row: { id: 1, name: 'Ada', age: 37 } },
  ])
  assert.deepEqual([second.removed, second.moved, second.initial], [[], [], false])
  assert.equal(second.since, first.version)
  assert.deepEqual(second.rows, [{ id: 1, name: 'Ada', age: 37 }, barbara, grace])
  assert.equal(second.updated[0]?.previous, ada)
  assert.equal(second.rows[0], second.updated[0]?.row)
  assert.equal(second.rows[2], grace)
})

// G279
test('patches of a live relational query have the rows with all that is nested in them', async (t) => {
  const { client, db } = await fixture(t)
  const query = live(db, db.query.users.findMany({ with: { pets: true }, orderBy: { id: 'asc' } }))
  const [, patch] = await beforeAndAfter(query.patches({ key: 'id', rows: false }), client, () =>
    db.insert(pets).values({ name: 'Kit', owner: 2 }),
  )
  assert.deepEqual([patch.added, patch.removed, patch.moved, 'rows' in patch], [[], [], [], false])
  assert.deepEqual(
    patch.updated.map(({ previous, row }) =>
      [previous, row].map((user) => user.pets.map(({ name }) => name)),
    ),
    [[['Tom'], ['Tom', 'Kit']]],
  )
})

// G279
test('iterators and subscribers of one live query share the objects of its rows', async (t) => {
  const { client, db } = await fixture(t)
  const query = live(db, db.select().from(users).orderBy(users.id))
  const stop = query.subscribe(() => {})
  const [before, after] = await beforeAndAfter(query.patches({ key: 'id' }), client, () =>
    db.delete(users).where(eq(users.id, 1)),
  )
  assert.equal(after.removed[0]?.row, before.rows[0])
  assert.equal(query.current?.[0], before.rows[1])
  stop()
})

// G279
test('the key of patches may be nested by a join, have several columns, and other names than in the table', async (t) => {
  const { client, db } = await fixture(t)
  const joined = db.select().from(users).leftJoin(pets, eq(pets.owner, users.id)).orderBy(users.id)
  const rename = () => db.update(pets).set({ name: 'Max' }).where(eq(pets.id, 2))
  const keys = live(db, joined).patches({ key: ['users.id', 'pets.id'] })
  const [, patch] = await beforeAndAfter(keys, client, rename)
  assert.deepEqual(
    patch.updated.map(({ previous, row }) => [previous.pets?.name, row.pets?.name]),
    [['Tom', 'Max']],
  )
  const renamed = live(db, db.select({ who: users.id, label: sql<string>`upper(${users.name})` }).from(users))
  const named = renamed.patches({ key: 'who' })
  const [first] = await beforeAndAfter(named, client, () => db.delete(users).where(eq(users.id, 2)))
  assert.deepEqual(first.rows[0], { who: 1, label: 'ADA' })
})

// G280
test('a key that the rows do not have is refused by name, and patches of what is no list of rows', async (t) => {
  const { db } = await fixture(t)
  const refuses = (query: { patches(options: never): unknown }, options: unknown, message: string) =>
    assert.throws(() => query.patches(options as never), withCode('RESQLITE_OPTION', message))
  const rows = live(db, db.select().from(users))
  // @ts-expect-error the types know the properties
  void (() => rows.patches({ key: 'nmae' }))
  refuses(rows, { key: 'nmae' }, '"id", "name", "age", the columns of the rows; not "nmae"')
  refuses(rows, { key: ['id', 7] }, 'not a number')
  refuses(rows, {}, 'key is missing')
  refuses(rows, { key: 'id', row: false }, 'row')
  refuses(live(db, db.query.users.findMany({ with: { pets: true } })), { key: 'pets' }, 'not "pets"')
  refuses(live(db, db.query.users.findFirst()), { key: 'id' }, 'many rows')
  refuses(live(db, db.$count(users)), { key: 'id' }, 'many rows')
})

// G281
test('a live query of raw SQL has rows as Drizzle gives them, and patches by the names of columns', async (t) => {
  const { db } = await fixture(t)
  const raw = sql`SELECT id, name FROM users ORDER BY id`
  const first = async <V,>(values: AsyncIterable<V>) => {
    for await (const value of values) return value
    throw new Error('no value')
  }
  const ada = { id: 1, name: 'Ada' }
  const all = live(db, db.all<{ id: number; name: string }>(raw))
  assert.deepEqual((await first(all))[0], ada)
  assert.deepEqual((await first(all.patches({ key: 'id' }))).added[0], { index: 0, row: ada })
  assert.deepEqual(await first(live(db, db.get(raw))), ada)
  assert.deepEqual((await first(live(db, db.values(raw))))[0], [1, 'Ada'])
})

// G272
test('of many live relational queries by key, a write re-runs the one that it concerns', async (t) => {
  const { client, db } = await fixture(t)
  await client.exec('CREATE INDEX pets_owner ON pets(owner)')
  const lives = Array.from({ length: 100 }, (_, id) =>
    live(db, db.query.users.findFirst({ where: { id }, with: { pets: true } })),
  )
  const stops = await Promise.all(
    lives.map(
      (one) =>
        new Promise<() => void>((resolve) => {
          const stop = one.subscribe(() => resolve(stop))
        }),
    ),
  )
  await quiet(client)
  const before = lives.map((one) => one.stats.reruns)
  await db.insert(pets).values({ name: 'Kit', owner: 2 })
  await quiet(client)
  const reruns = lives.map((one, id) => one.stats.reruns - (before[id] as number))
  assert.deepEqual([reruns[2], reruns.reduce((sum, n) => sum + n)], [1, 1])
  for (const stop of stops) stop()
})

// G272
test('a live query of the first row gives that row, or undefined', async (t) => {
  const { client, db } = await fixture(t)
  const first = live(db, db.query.users.findFirst({ where: { name: 'Ada' }, with: { pets: true } }))
  const [before, after] = await beforeAndAfter(first, client, () => db.delete(users).where(eq(users.id, 1)))
  assert.equal(before?.pets[0]?.name, 'Rex')
  assert.equal(after, undefined)
})

// G272
test('a live $count is a number', async (t) => {
  const { client, db } = await fixture(t)
  const [before, after] = await beforeAndAfter(live(db, db.$count(users)), client, () => db.delete(users))
  assert.deepEqual([before, after], [2, 0])
})

// G272
test('subscribers and current get the same value', async (t) => {
  const { db } = await fixture(t)
  const rows = live(db, db.select().from(users))
  assert.equal(rows.current, undefined)
  const got = gate<unknown[]>()
  const stop = rows.subscribe((value) => got.open(value))
  assert.equal(await got.promise, rows.current)
  assert.equal(rows.stats.emitted, 1)
  stop()
  assert.throws(() => rows.subscribe(7 as never), TypeError)
})

// G272
test('observers and observables get what Drizzle makes of the rows, and the end', async (t) => {
  const { client, db } = await fixture(t)
  const query = live(db, db.select({ name: users.name }).from(users).orderBy(users.id))
  for (const source of [query, query['@@observable']()]) {
    const [got, failed] = [gate<unknown>(), gate<Error>()]
    const subscription = source.subscribe({
      next: (rows) => got.open(rows),
      error: (error) => failed.open(error),
    })
    assert.deepEqual(await got.promise, [{ name: 'Ada' }, { name: 'Grace' }])
    await client.exec('ALTER TABLE users RENAME TO people')
    assert.match((await failed.promise).message, /no such table/)
    subscription.unsubscribe()
    await client.exec('ALTER TABLE people RENAME TO users')
  }
  const completed = gate()
  query.subscribe({ complete: () => completed.open() })
  await client.close()
  await completed.promise
})

// G272
test('an iteration over a live query that waits ends at once', async (t) => {
  const { db } = await fixture(t)
  const iterator = live(db, db.select().from(users))[Symbol.asyncIterator]()
  await iterator.next()
  const waiting = iterator.next()
  await iterator.return?.()
  assert.deepEqual(await waiting, { value: undefined, done: true })
})

// G272
test('a live query refuses what writes, and placeholders', async (t) => {
  const { db } = await fixture(t)
  const iterator = live(db, db.delete(users).returning())[Symbol.asyncIterator]()
  await assert.rejects(iterator.next(), withCode('RESQLITE_READ_ONLY'))
  const open = db
    .select()
    .from(users)
    .where(eq(users.id, sql.placeholder('id')))
  assert.throws(() => live(db, open), /placeholder "id"/)
  assert.throws(() => live(db, {} as never), withCode('RESQLITE_STATEMENT', 'live'))
})

/** Writes migrations, each in the folder that drizzle-kit would have made. */
function migrations(t: TestContext, scripts: Record<string, string>): string {
  const folder = tempFolder(t)
  for (const [name, script] of Object.entries(scripts)) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'migration.sql'), script)
  }
  return folder
}

const BREAK = ';\n--> statement-breakpoint\n'

const CREATE = [
  'CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT)',
  'CREATE TABLE pets(id INTEGER PRIMARY KEY, owner INTEGER REFERENCES users(id) ON DELETE CASCADE)',
  "INSERT INTO users VALUES (1, 'Ada')",
  'INSERT INTO pets VALUES (1, 1)',
].join(BREAK)

/** As drizzle-kit rebuilds a table. */
const REBUILD = [
  'PRAGMA foreign_keys=OFF',
  'CREATE TABLE __new_users(id INTEGER PRIMARY KEY, name TEXT NOT NULL)',
  'INSERT INTO __new_users SELECT id, name FROM users',
  'DROP TABLE users',
  'ALTER TABLE __new_users RENAME TO users',
  'PRAGMA foreign_keys=ON',
].join(BREAK)

// G271
test('migrations run once, in order', async (t) => {
  const client = await tempDatabase(t)
  const db = drizzle({ client })
  const log = "INSERT INTO log SELECT 'second', count(*) FROM log"
  const migrationsFolder = migrations(t, {
    '20240101000000_first': 'CREATE TABLE log(name, n)',
    '20240202000000_second': log,
  })
  await migrate(db, { migrationsFolder })
  await migrate(db, { migrationsFolder })
  assert.deepEqual(await db.values(sql`SELECT * FROM log`), [['second', 0]])
  const applied = await db.values(sql`SELECT name FROM __drizzle_migrations ORDER BY id`)
  assert.deepEqual(applied, [['20240101000000_first'], ['20240202000000_second']])
})

// G271
test('a migration that rebuilds a table loses no rows that refer to it', async (t) => {
  const client = await tempDatabase(t)
  const db = drizzle({ client })
  const migrationsFolder = migrations(t, {
    '20240101000000_first': CREATE,
    '20240202000000_rebuild': REBUILD,
  })
  await migrate(db, { migrationsFolder })
  assert.deepEqual(await client.select('SELECT * FROM pets'), [{ id: 1, owner: 1 }])
  await assert.rejects(
    client.execute('INSERT INTO users VALUES (2, NULL)'),
    withCode('SQLITE_CONSTRAINT_NOTNULL'),
  )
  await assert.rejects(
    client.execute('INSERT INTO pets VALUES (2, 9)'),
    withCode('SQLITE_CONSTRAINT_FOREIGNKEY'),
  )
})

// G271
test('migrations that would leave a row without the row it refers to are undone', async (t) => {
  const client = await tempDatabase(t)
  const db = drizzle({ client })
  const migrationsFolder = migrations(t, {
    '20240101000000_first': CREATE,
    '20240202000000_rebuild': REBUILD.replace('FROM users', 'FROM users WHERE id > 1'),
  })
  await assert.rejects(migrate(db, { migrationsFolder }), withCode('SQLITE_CONSTRAINT_FOREIGNKEY', 'pets'))
  assert.deepEqual(await client.select('SELECT name FROM sqlite_schema'), [])
})

// G271
test('programs that migrate at the same time do not run a migration twice', async (t) => {
  const path = tempFile(t)
  const migrationsFolder = migrations(t, { '20240101000000_first': CREATE })
  const clients = await Promise.all([1, 2, 3].map(() => openDatabase(t, path)))
  await Promise.all(clients.map((client) => migrate(drizzle({ client }), { migrationsFolder })))
  assert.equal(await drizzle({ client: clients[0] as Database }).$count(sql`users`), 1)
})

// G271
test('the name of the table of migrations can be chosen', async (t) => {
  const client = await tempDatabase(t)
  const migrationsFolder = migrations(t, { '20240101000000_first': CREATE })
  await migrate(drizzle({ client }), { migrationsFolder, migrationsTable: 'my "migrations"' })
  await migrate(drizzle({ client }), { migrationsFolder, migrationsTable: 'my "migrations"' })
  assert.deepEqual(await client.select('SELECT count(*) AS n FROM "my ""migrations"""'), [{ n: 1 }])
})
