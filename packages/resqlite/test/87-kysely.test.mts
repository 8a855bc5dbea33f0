import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Generated, InsertResult, Kysely, type LogEvent, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import { Database, type ResqliteError } from 'resqlite'
import { live, ResqliteDialect, type ResqliteDialectConfig } from 'resqlite/kysely'
import { ENDLESS, withCode } from './support/errors.js'
import { tempDatabase, tempFile } from './support/temp.js'

interface Schema {
  users: { id: Generated<number>; name: string; age: number | null }
  pets: { id: Generated<number>; name: string; owner: number }
}

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, age INTEGER);
  CREATE TABLE pets(id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner INTEGER REFERENCES users(id) ON DELETE CASCADE);
  INSERT INTO users(name, age) VALUES ('Ada', 36), ('Grace', 85);
  INSERT INTO pets(name, owner) VALUES ('Rex', 1), ('Tom', 2);
`

interface Fixture {
  db: Database
  kysely: Kysely<Schema>
  /** The statements that Kysely has logged. */
  log: string[]
}

async function fixture(t: TestContext, options?: Omit<ResqliteDialectConfig, 'database'>): Promise<Fixture> {
  const database = await tempDatabase(t, SCHEMA)
  const log: string[] = []
  const kysely = new Kysely<Schema>({
    dialect: new ResqliteDialect({ database, ...options }),
    log: ({ query }: LogEvent) => void log.push(query.sql),
  })
  return { db: database, kysely, log }
}

const names = async (from: Kysely<Schema>) =>
  (await from.selectFrom('users').select('name').orderBy('id').execute()).map(({ name }) => name)

const insert = (into: Kysely<Schema>, name: string) =>
  into.insertInto('users').values({ name, age: 1 }).execute()

// G259
test('builders read and write', async (t) => {
  const { kysely } = await fixture(t)
  const [inserted] = await insert(kysely, 'Barbara')
  assert.equal(inserted?.insertId, 3n)
  assert.equal(inserted?.numInsertedOrUpdatedRows, 1n)
  const updated = await kysely.updateTable('users').set({ age: 4 }).where('id', '<', 3).executeTakeFirst()
  assert.equal(updated.numUpdatedRows, 2n)
  const returned = await kysely.deleteFrom('users').where('id', '=', 3).returningAll().execute()
  assert.deepEqual(returned, [{ id: 3, name: 'Barbara', age: 1 }])
  const nothing = await kysely.deleteFrom('users').where('id', '=', 3).returningAll().execute()
  assert.deepEqual(nothing, [])
  const joined = await kysely
    .with('old', (q) => q.selectFrom('users').selectAll().where('age', '=', 4))
    .selectFrom('old')
    .innerJoin('pets', 'pets.owner', 'old.id')
    .select(['old.name as owner', 'pets.name'])
    .execute()
  assert.deepEqual(joined, [
    { owner: 'Ada', name: 'Rex' },
    { owner: 'Grace', name: 'Tom' },
  ])
})

// G259
test('raw SQL goes where it belongs, whatever it begins with', async (t) => {
  const { kysely } = await fixture(t)
  const { rows } =
    await sql`/* how many */ WITH u AS (SELECT * FROM users) SELECT count(*) AS n FROM u`.execute(kysely)
  assert.deepEqual(rows, [{ n: 2 }])
  const written = await sql`UPDATE users SET age = ${7}`.execute(kysely)
  assert.deepEqual(written, { rows: [], numAffectedRows: 2n, insertId: 0n })
  const pragma = await sql`PRAGMA table_info(users)`.execute(kysely)
  assert.equal(pragma.rows.length, 3)
})

// G259
test('an insert that inserted nothing has the insertId of the last one through the dialect', async (t) => {
  const { db, kysely } = await fixture(t)
  const insertAda = () =>
    kysely
      .insertInto('users')
      .values({ name: 'Ada', age: 1 })
      .onConflict((c) => c.doNothing())
      .executeTakeFirstOrThrow()
  await db.execute("INSERT INTO users(name) VALUES ('not through the dialect')")
  assert.deepEqual(await insertAda(), new InsertResult(0n, 0n))
  await insert(kysely, 'Barbara')
  assert.deepEqual(await insertAda(), new InsertResult(4n, 0n))
  await kysely.insertInto('users').values({ name: 'Tony' }).returning('name').execute()
  assert.deepEqual(await insertAda(), new InsertResult(5n, 0n))
})

// G260
test('reads run while a transaction is open, and do not see it', async (t) => {
  const { kysely } = await fixture(t)
  await kysely.transaction().execute(async (trx) => {
    await insert(trx, 'Barbara')
    assert.deepEqual(await names(trx), ['Ada', 'Grace', 'Barbara'])
    assert.deepEqual(await names(kysely), ['Ada', 'Grace'])
  })
  assert.deepEqual(await names(kysely), ['Ada', 'Grace', 'Barbara'])
})

// G260
test('an error in a transaction rolls it back', async (t) => {
  const { kysely } = await fixture(t)
  const failing = kysely.transaction().execute(async (trx) => {
    await insert(trx, 'Barbara')
    throw new Error('mine')
  })
  await assert.rejects(failing, /mine/)
  assert.deepEqual(await names(kysely), ['Ada', 'Grace'])
})

// G260
test('a controlled transaction has savepoints', async (t) => {
  const { kysely, log } = await fixture(t)
  const trx = await kysely.startTransaction().execute()
  await insert(trx, 'Barbara')
  const after = await trx.savepoint('a "b"').execute()
  await insert(after, 'Edsger')
  const back = await after.rollbackToSavepoint('a "b"').execute()
  await insert(back, 'Tony')
  const released = await after.releaseSavepoint('a "b"').execute()
  await released.commit().execute()
  assert.deepEqual(await names(kysely), ['Ada', 'Grace', 'Barbara', 'Tony'])
  const steps = log.filter((statement) => !/^(insert|select)/.test(statement))
  const name = '"a ""b"""'
  assert.deepEqual(steps, ['begin', `savepoint ${name}`, `rollback to ${name}`, `release ${name}`, 'commit'])
})

// G260
test('transactions that run together wait for each other', async (t) => {
  const { kysely } = await fixture(t)
  const add = (id: number) =>
    kysely.transaction().execute(async (trx) => {
      const { age } = await trx
        .selectFrom('users')
        .select('age')
        .where('id', '=', 1)
        .executeTakeFirstOrThrow()
      await trx
        .updateTable('users')
        .set({ age: (age ?? 0) + 1 })
        .where('id', '=', 1)
        .execute()
      if (id % 3 === 0) throw new Error('every third')
    })
  const outcomes = await Promise.allSettled(Array.from({ length: 60 }, (_, id) => add(id)))
  assert.equal(outcomes.filter(({ status }) => status === 'rejected').length, 20)
  const { age } = await kysely.selectFrom('users').select('age').where('id', '=', 1).executeTakeFirstOrThrow()
  assert.equal(age, 36 + 40)
})

// G260
test('a transaction ends by its timeout, and its calls say so', async (t) => {
  const { kysely } = await fixture(t, { transactionTimeout: 50 })
  const late = kysely.transaction().execute(async (trx) => {
    await insert(trx, 'Barbara')
    await sql.raw(ENDLESS).execute(trx)
  })
  await assert.rejects(late, withCode('RESQLITE_TIMEOUT'))
  assert.deepEqual(await names(kysely), ['Ada', 'Grace'])
})

// G259
test('errors are those of resqlite', async (t) => {
  const { kysely } = await fixture(t)
  await assert.rejects(insert(kysely, 'Ada'), withCode('SQLITE_CONSTRAINT_UNIQUE', 'users.name'))
  await assert.rejects(
    // @ts-expect-error: there is no such column
    kysely.selectFrom('users').select('nam').execute(),
    withCode('SQLITE_ERROR', 'nam'),
  )
})

// G263
test('a stream gives rows in chunks, and its end frees the thread', async (t) => {
  const { db, kysely } = await fixture(t)
  const numbers = sql<{
    x: number
  }>`(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)`
  const query = kysely.selectFrom(numbers.as('numbers')).select('x')
  const seen: number[] = []
  for await (const { x } of query.stream(10)) {
    seen.push(x)
    if (x === 25) break
  }
  assert.equal(seen.length, 25)
  while ((await db.diagnostics()).leases.open > 0);
  const inside = await kysely.transaction().execute(async (trx) => {
    await insert(trx, 'Barbara')
    const found: string[] = []
    for await (const { name } of trx.selectFrom('users').select('name').orderBy('id').stream(2))
      found.push(name)
    return found
  })
  assert.deepEqual(inside, ['Ada', 'Grace', 'Barbara'])
})

// G263
test('a signal with the strategy "cancel query" ends the query', async (t) => {
  const { db, kysely } = await fixture(t)
  t.mock.method(console, 'error', () => {}) // Kysely reports there that the query failed
  const controller = new AbortController()
  const query = sql.raw(ENDLESS).execute(kysely, {
    signal: controller.signal,
    inflightQueryAbortStrategy: 'cancel query',
  })
  setImmediate(() => controller.abort(new Error('enough')))
  await assert.rejects(query, /enough/)
  await db.close() // waits for reads that run
})

function migrator(kysely: Kysely<Schema>, migrations: Record<string, Migration>): Migrator {
  return new Migrator({ db: kysely, provider: { getMigrations: async () => migrations } })
}

// G261
test('migrations run once, also if several programs start them together', async (t) => {
  const path = tempFile(t)
  const runs: string[] = []
  const up = (name: string) => async (kysely: Kysely<Schema>) => {
    runs.push(name)
    await kysely.schema.createTable(name).addColumn('id', 'integer').execute()
  }
  const migrations = { a: { up: up('a') }, b: { up: up('b') } }
  const programs = Array.from({ length: 4 }, () => {
    const dialect = new ResqliteDialect({ database: () => Database.open(path) })
    return new Kysely<Schema>({ dialect })
  })
  const outcomes = await Promise.all(programs.map((kysely) => migrator(kysely, migrations).migrateToLatest()))
  assert.deepEqual(
    outcomes.map(({ error }) => error),
    [undefined, undefined, undefined, undefined],
  )
  assert.deepEqual(runs, ['a', 'b'])
  await Promise.all(programs.map((kysely) => kysely.destroy()))
})

// G261
test('migrations without transactions wait for each other, too', async (t) => {
  const { kysely } = await fixture(t)
  const runs: string[] = []
  const up = async (on: Kysely<Schema>) => {
    runs.push('a')
    await on.schema.createTable('a').addColumn('id', 'integer').execute()
  }
  const one = () => migrator(kysely, { a: { up } }).migrateToLatest({ disableTransactions: true })
  const outcomes = await Promise.all([one(), one(), one()])
  assert.deepEqual(
    outcomes.map(({ error }) => error),
    [undefined, undefined, undefined],
  )
  assert.deepEqual(runs, ['a'])
})

test('migrations have no timeout', async (t) => {
  const { kysely } = await fixture(t, { transactionTimeout: 1 })
  const up = async (trx: Kysely<Schema>) => {
    await trx.schema.dropTable('pets').execute()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { error } = await migrator(kysely, { a: { up } }).migrateToLatest()
  assert.equal(error, undefined)
})

// G261
test('a migration that fails leaves nothing', async (t) => {
  const { kysely } = await fixture(t)
  const migrations = {
    a: { up: (trx: Kysely<Schema>) => trx.schema.dropTable('pets').execute() },
    b: {
      up: async () => {
        throw new Error('mine')
      },
    },
  }
  const { error } = await migrator(kysely, migrations).migrateToLatest()
  assert.match((error as Error).message, /mine/)
  assert.equal((await kysely.selectFrom('pets').selectAll().execute()).length, 2)
})

const rebuild = async (on: Kysely<Schema>) => {
  await sql`CREATE TABLE new_users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER)`.execute(on)
  await sql`INSERT INTO new_users SELECT * FROM users`.execute(on)
  await on.schema.dropTable('users').execute()
  await sql`ALTER TABLE new_users RENAME TO users`.execute(on)
}

// G284
test('a COMMIT that fails is told, rolls back, and may be followed by a ROLLBACK', async (t) => {
  const { kysely } = await fixture(t)
  await sql`CREATE TABLE later(owner INT REFERENCES users DEFERRABLE INITIALLY DEFERRED)`.execute(kysely)
  const orphan = sql`INSERT INTO later VALUES (99)`
  const violated = withCode('SQLITE_CONSTRAINT_FOREIGNKEY')
  await assert.rejects(
    kysely.transaction().execute((trx) => orphan.execute(trx)),
    violated,
  )
  const trx = await kysely.startTransaction().execute()
  await orphan.execute(trx)
  await assert.rejects(trx.commit().execute(), violated)
  await trx.rollback().execute()
  await kysely.transaction().execute((trx) => insert(trx, 'Barbara'))
  assert.deepEqual((await sql`SELECT * FROM later`.execute(kysely)).rows, [])
})

// G262
test('PRAGMA foreign_keys = OFF, first in a migration, lets it rebuild a table that others refer to', async (t) => {
  const { kysely } = await fixture(t)
  const up = async (trx: Kysely<Schema>) => {
    await sql`PRAGMA foreign_keys = OFF`.execute(trx)
    await rebuild(trx)
    await sql`PRAGMA foreign_keys = ON`.execute(trx)
  }
  const { error } = await migrator(kysely, { a: { up } }).migrateToLatest()
  assert.equal(error, undefined)
  assert.equal((await kysely.selectFrom('pets').selectAll().execute()).length, 2)
  assert.deepEqual((await sql`PRAGMA foreign_keys`.execute(kysely)).rows, [{ foreign_keys: 1 }])
})

test('PRAGMA foreign_keys = OFF before a migrator on the same connection works, too', async (t) => {
  const { kysely } = await fixture(t)
  await kysely.connection().execute(async (connection) => {
    await sql`PRAGMA foreign_keys = OFF`.execute(connection)
    const { error } = await migrator(connection, { a: { up: rebuild } }).migrateToLatest()
    assert.equal(error, undefined)
    await sql`PRAGMA foreign_keys = ON`.execute(connection)
  })
  assert.equal((await kysely.selectFrom('pets').selectAll().execute()).length, 2)
})

// G262
test('PRAGMA foreign_keys = OFF before a transaction of the same connection works, too', async (t) => {
  const { kysely } = await fixture(t)
  await kysely.connection().execute(async (connection) => {
    await sql`PRAGMA foreign_keys = OFF`.execute(connection)
    assert.deepEqual((await sql`PRAGMA foreign_keys`.execute(connection)).rows, [{ foreign_keys: 0 }])
    assert.deepEqual((await sql`PRAGMA foreign_keys`.execute(kysely)).rows, [{ foreign_keys: 1 }])
    await connection.transaction().execute(rebuild)
    await sql`PRAGMA foreign_keys = ON`.execute(connection)
  })
  assert.equal((await kysely.selectFrom('pets').selectAll().execute()).length, 2)
})

// G262
test('foreign keys that were off are checked: in a transaction, and in a single statement', async (t) => {
  const { kysely } = await fixture(t)
  const violated = withCode('SQLITE_CONSTRAINT_FOREIGNKEY')
  const orphan = (into: Kysely<Schema>) => into.insertInto('pets').values({ name: 'Bo', owner: 99 }).execute()
  await sql`PRAGMA foreign_keys = OFF`.execute(kysely)
  await assert.rejects(kysely.transaction().execute(orphan), violated)
  await assert.rejects(orphan(kysely), violated)
  await sql`PRAGMA foreign_keys = ON`.execute(kysely)
  assert.equal((await kysely.selectFrom('pets').selectAll().execute()).length, 2)
})

// G262
test('PRAGMA foreign_keys = OFF is refused where it would do nothing', async (t) => {
  const { kysely } = await fixture(t)
  const off = sql`PRAGMA foreign_keys = OFF`
  const late = kysely.transaction().execute(async (trx) => {
    await insert(trx, 'Barbara')
    await off.execute(trx)
  })
  await assert.rejects(late, withCode('RESQLITE_TRANSACTION', 'has written'))
  const afterFailure = kysely.transaction().execute(async (trx) => {
    const halfway = sql`INSERT OR FAIL INTO users(name) VALUES ('Tony'), ('Ada')`
    await assert.rejects(halfway.execute(trx), withCode('SQLITE_CONSTRAINT_UNIQUE'))
    await off.execute(trx)
  })
  await assert.rejects(afterFailure, withCode('RESQLITE_TRANSACTION', 'has written'))
})

// G399
test('select and stream refuse a join of Kysely whose columns collide, and take one whose columns are named', async (t) => {
  const { db, kysely } = await fixture(t)
  const joined = kysely.selectFrom('users').innerJoin('pets', 'pets.owner', 'users.id')
  await assert.rejects(db.select(joined.selectAll()), withCode('RESQLITE_RESULT', '"id"'))
  await assert.rejects(db.stream(joined.selectAll()).values().next(), withCode('RESQLITE_RESULT', '"id"'))
  const named = joined.select(['users.name as person', 'pets.name as pet']).orderBy('pet')
  assert.deepEqual((await db.select(named))[0], { person: 'Ada', pet: 'Rex' })
})

// G264
test('a live query has the rows of a query of Kysely', async (t) => {
  const { kysely } = await fixture(t)
  const adults = live(
    kysely,
    kysely.selectFrom('users').select(['id', 'name']).where('age', '>', 30).orderBy('id'),
  )
  const results = adults[Symbol.asyncIterator]()
  const first = (await results.next()).value as { id: number; name: string }[]
  assert.deepEqual(
    first.map(({ name }) => name),
    ['Ada', 'Grace'],
  )
  await kysely.insertInto('users').values({ name: 'Edsger', age: 72 }).execute()
  const second = (await results.next()).value as { id: number; name: string }[]
  assert.deepEqual(
    second.map(({ name }) => name),
    ['Ada', 'Grace', 'Edsger'],
  )
  assert.equal(second[0], first[0])
  await results.return?.()
})

test('live needs a dialect with an open database', async (t) => {
  const kysely = new Kysely<Schema>({
    dialect: new ResqliteDialect({ database: () => Database.open(':memory:') }),
  })
  t.after(() => kysely.destroy())
  assert.throws(() => live(kysely, kysely.selectFrom('users').selectAll()), /open database/)
})

test('a function opens the database before the first query, and destroy closes it', async () => {
  let opened: Database | undefined
  const database = async () => {
    opened = await Database.open(':memory:')
    return opened
  }
  const kysely = new Kysely<Schema>({ dialect: new ResqliteDialect({ database }) })
  assert.equal(opened, undefined)
  await sql`SELECT 1`.execute(kysely)
  assert.equal((opened as Database | undefined)?.open, true)
  await kysely.destroy()
  assert.equal((opened as Database | undefined)?.open, false)
  await assert.rejects(sql`SELECT 1`.execute(kysely), (error: ResqliteError) =>
    /destroyed/.test(error.message),
  )
})

test('the schema is introspected', async (t) => {
  const { kysely } = await fixture(t)
  const tables = await kysely.introspection.getTables()
  assert.deepEqual(
    tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]),
    [
      ['pets', ['id', 'name', 'owner']],
      ['users', ['id', 'name', 'age']],
    ],
  )
})
