import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import createKnex, { type Knex } from 'knex'
import type { Database } from 'resqlite'
import { ResqliteClient } from 'resqlite/knex'
import { ENDLESS, withCode } from './support/errors'
import { openDatabase, tempDatabase, tempFile } from './support/temp'

interface User {
  id: number
  name: string
  age: number | null
}

function knexOn(database: Database, transactionTimeout?: number, max?: number): Knex {
  const connection = { database, transactionTimeout } as Knex.StaticConnectionConfig
  const pool = max === undefined ? undefined : { min: 0, max }
  return createKnex({ client: ResqliteClient, connection, pool, useNullAsDefault: true })
}

/** A database with two users, each of whom has a pet. */
async function fixture(
  t: TestContext,
  transactionTimeout?: number,
  max?: number,
): Promise<{ db: Database; knex: Knex }> {
  const db = await tempDatabase(t)
  const knex = knexOn(db, transactionTimeout, max)
  t.after(() => knex.destroy())
  await knex.schema.createTable('users', (table) => {
    table.increments()
    table.string('name').notNullable().unique()
    table.integer('age')
  })
  await knex.schema.createTable('pets', (table) => {
    table.increments()
    table.string('name')
    table.integer('owner').references('users.id').onDelete('CASCADE')
  })
  await knex('users').insert([{ name: 'Ada', age: 36 }, { name: 'Grace' }])
  await knex('pets').insert([
    { name: 'Rex', owner: 1 },
    { name: 'Tom', owner: 2 },
  ])
  return { db, knex }
}

const names = (from: Knex) => from<User>('users').orderBy('id').pluck('name')

// G265
test('builders read and write', async (t) => {
  const { knex } = await fixture(t)
  assert.deepEqual(await knex('users').insert({ name: 'Barbara' }), [3])
  assert.deepEqual(await knex('users').insert({ name: 'Tony' }).returning(['id', 'name']), [
    { id: 4, name: 'Tony' },
  ])
  assert.equal(await knex('users').where('id', '>', 2).update({ age: 4 }), 2)
  assert.deepEqual(await knex('users').where('id', 3).update({ age: 5 }).returning('age'), [{ age: 5 }])
  assert.equal(await knex('users').where('id', '>', 2).del(), 2)
  assert.deepEqual(await knex('users').first('name').where('id', 2), { name: 'Grace' })
  assert.deepEqual(await knex('users').count('* as n'), [{ n: 2 }])
})

test('raw SQL answers rows, or what it changed', async (t) => {
  const { knex } = await fixture(t)
  assert.deepEqual(
    await knex.raw('WITH u AS (SELECT name FROM users) SELECT * FROM u WHERE name = ?', ['Ada']),
    [{ name: 'Ada' }],
  )
  assert.deepEqual(await knex.raw('UPDATE users SET age = 1'), { changes: 2, lastInsertRowid: 0 })
})

test('dates are stored as milliseconds, booleans as 0 and 1', async (t) => {
  const { knex } = await fixture(t)
  assert.deepEqual(await knex.raw('SELECT ? AS date, ? AS yes', [new Date(5), true]), [{ date: 5, yes: 1 }])
})

test('reads run while a transaction is open, and do not see it', async (t) => {
  const { knex } = await fixture(t)
  await knex.transaction(async (trx) => {
    await trx('users').insert({ name: 'Barbara' })
    assert.deepEqual(await names(knex), ['Ada', 'Grace'])
    assert.deepEqual(await names(trx), ['Ada', 'Grace', 'Barbara'])
  })
  assert.deepEqual(await names(knex), ['Ada', 'Grace', 'Barbara'])
})

// G265
test('transactions nest, and an error undoes one level', async (t) => {
  const { knex } = await fixture(t)
  await knex.transaction(async (trx) => {
    await trx('users').insert({ name: 'Barbara' })
    const failing = trx.transaction(async (inner) => {
      await inner('users').insert({ name: 'Edsger' })
      throw new Error('mine')
    })
    await assert.rejects(failing, /mine/)
    await trx.transaction((inner) => inner('users').insert({ name: 'Tony' }))
  })
  assert.deepEqual(await names(knex), ['Ada', 'Grace', 'Barbara', 'Tony'])
  const whole = knex.transaction(async (trx) => {
    await trx('users').del()
    throw new Error('mine')
  })
  await assert.rejects(whole, /mine/)
  assert.equal((await names(knex)).length, 4)
})

test('a transaction without a body is ended by its caller', async (t) => {
  const { knex } = await fixture(t)
  const trx = await knex.transaction()
  await trx('users').insert({ name: 'Barbara' })
  await trx.rollback()
  const second = await knex.transaction()
  await second('users').insert({ name: 'Tony' })
  await second.commit()
  assert.deepEqual(await names(knex), ['Ada', 'Grace', 'Tony'])
})

test('a transaction ends by its timeout', async (t) => {
  const { knex } = await fixture(t, 50)
  const late = knex.transaction(async (trx) => {
    await trx('users').insert({ name: 'Barbara' })
    await trx.raw(ENDLESS)
  })
  await assert.rejects(late, withCode('RESQLITE_TIMEOUT'))
  assert.deepEqual(await names(knex), ['Ada', 'Grace'])
})

// G265
test('more transactions wait than a pool of connections would have, and reads pass them', async (t) => {
  const { knex } = await fixture(t)
  const open = await knex.transaction()
  const waiting = Array.from({ length: 50 }, (_, i) =>
    knex.transaction((trx) => trx('users').insert({ name: `w${i}` })),
  )
  assert.deepEqual(await names(knex), ['Ada', 'Grace'])
  await open.commit()
  await Promise.all(waiting)
  assert.equal((await names(knex)).length, 52)
})

// G265
test('columnInfo tells types, lengths and defaults', async (t) => {
  const { knex } = await fixture(t)
  assert.deepEqual(await knex('users').columnInfo('name'), {
    type: 'varchar',
    maxLength: '255',
    nullable: false,
    defaultValue: null,
  })
})

// G266
test('alterTable rebuilds a table, and the rows that refer to it stay', async (t) => {
  const { knex } = await fixture(t)
  await knex.schema.alterTable('users', (table) => {
    table.string('name', 50).notNullable().alter()
    table.dropColumn('age')
  })
  assert.deepEqual(Object.keys(await knex('users').columnInfo()), ['id', 'name'])
  assert.equal((await knex('pets')).length, 2)
  assert.deepEqual(await knex.raw('PRAGMA foreign_keys'), [{ foreign_keys: 1 }])
})

// G266
test('in a transaction that has written, alterTable is refused if it would lose rows', async (t) => {
  const { knex } = await fixture(t)
  const alter = (name: string) => async (trx: Knex) => {
    await trx('users').insert({ name: 'Barbara' })
    await trx.schema.alterTable(name, (table) => table.dropColumn(name === 'users' ? 'age' : 'name'))
  }
  await assert.rejects(knex.transaction(alter('users')), withCode('RESQLITE_TRANSACTION', 'rows of "pets"'))
  await knex.transaction(alter('pets'))
  assert.deepEqual(await knex('pets').where('owner', 1), [{ id: 1, owner: 1 }])
  assert.deepEqual(await names(knex), ['Ada', 'Grace', 'Barbara'])
})

// G266
test('enforceForeignCheck: false lets a transaction rebuild tables at any time', async (t) => {
  const { knex } = await fixture(t)
  const options = { enforceForeignCheck: false } as Knex.TransactionConfig
  await knex.transaction(async (trx) => {
    await trx('users').insert({ name: 'Barbara' })
    await trx.schema.alterTable('users', (table) => table.dropColumn('age'))
  }, options)
  assert.equal((await knex('pets')).length, 2)
  const orphan = knex.transaction((trx) => trx('pets').insert({ name: 'Bo', owner: 99 }), options)
  await assert.rejects(orphan, /foreign key/i)
})

// G266
test('a migration that rebuilds a table keeps the rows that refer to it', async (t) => {
  const { knex } = await fixture(t)
  const migration = {
    up: (trx: Knex) => trx.schema.alterTable('users', (table) => table.dropColumn('age')),
    down: async () => {},
  }
  const migrationSource = {
    getMigrations: async () => ['a'],
    getMigrationName: (name: string) => name,
    getMigration: async () => migration,
  }
  await knex.migrate.latest({ migrationSource })
  assert.deepEqual(Object.keys(await knex('users').columnInfo()), ['id', 'name'])
  assert.equal((await knex('pets')).length, 2)
})

// G265
test('a stream gives the rows, and leaving it frees the thread', async (t) => {
  const { db, knex } = await fixture(t)
  const seen: string[] = []
  for await (const { name } of knex<User>('users').orderBy('id').stream()) seen.push(name)
  assert.deepEqual(seen, ['Ada', 'Grace'])
  const numbers = '(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)'
  for await (const { x } of knex.select('x').from(knex.raw(numbers)).stream()) if (x === 1000) break
  while ((await db.diagnostics()).leases.open > 0);
})

// G265
test('a timeout with cancel ends the query', async (t) => {
  const { db, knex } = await fixture(t)
  await assert.rejects(knex.raw(ENDLESS).timeout(20, { cancel: true }), /timeout of 20ms/)
  await db.close() // waits for reads that run
})

test('a filename opens a database, and destroy closes it', async (t) => {
  const filename = tempFile(t)
  const knex = createKnex({ client: ResqliteClient, connection: { filename }, useNullAsDefault: true })
  await knex.schema.createTable('t', (table) => table.increments())
  await knex.destroy()
  const db = await openDatabase(t, filename)
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('errors are those of resqlite', async (t) => {
  const { knex } = await fixture(t)
  await assert.rejects(
    knex('users').insert({ name: 'Ada' }),
    withCode('SQLITE_CONSTRAINT_UNIQUE', 'users.name'),
  )
})

const orphan = (into: Knex) => into('later').insert({ owner: 99 })

/** Adds a table whose foreign key is checked at the COMMIT. */
const addLater = (knex: Knex) =>
  knex.raw('CREATE TABLE later(owner INT REFERENCES users DEFERRABLE INITIALLY DEFERRED)')

// G284
test('a COMMIT that fails is told, rolls back, and leaves every connection of the pool usable', async (t) => {
  const { knex } = await fixture(t, undefined, 1)
  await addLater(knex)
  const violated = withCode('SQLITE_CONSTRAINT_FOREIGNKEY')
  await assert.rejects(knex.transaction(orphan), violated)
  assert.deepEqual(await knex('later'), [])
  await knex.transaction((trx) => trx('users').insert({ name: 'Barbara' }))
  const trx = await knex.transaction()
  await trx.transaction(orphan)
  await assert.rejects(trx.commit(), violated)
  await knex('users').insert({ name: 'Tony' })
  assert.deepEqual(await knex('later'), [])
  assert.equal((await names(knex)).length, 4)
})

// G284
test('a transaction that SQLite has rolled back says so at its COMMIT, and its connection can be used', async (t) => {
  const { knex } = await fixture(t, undefined, 1)
  const trx = await knex.transaction()
  await trx('users').insert({ name: 'Barbara' })
  const nested = await trx.transaction()
  await assert.rejects(
    nested.raw("INSERT OR ROLLBACK INTO users(name) VALUES ('Ada')"),
    withCode('SQLITE_CONSTRAINT_UNIQUE'),
  )
  await assert.rejects(nested.commit(), withCode('RESQLITE_TRANSACTION'))
  await assert.rejects(trx.commit(), withCode('RESQLITE_TRANSACTION'))
  await knex.transaction((trx) => trx('users').insert({ name: 'Tony' }))
  assert.deepEqual(await names(knex), ['Ada', 'Grace', 'Tony'])
})

// G284
test('a transaction that has taken too long rejects at its COMMIT, and its connection can be used', async (t) => {
  const { knex } = await fixture(t, 50, 1)
  const trx = await knex.transaction()
  // The error says that it took too long, or that it has ended: either side may see first that the time is over.
  const over = (error: { code?: string }) => /^RESQLITE_(TIMEOUT|TRANSACTION)$/.test(error.code ?? '')
  await assert.rejects(trx.raw(ENDLESS).then(), over)
  await assert.rejects(trx.commit(), over)
  assert.deepEqual(await names(knex), ['Ada', 'Grace'])
})

// G284
test('after a COMMIT that failed on a connection of the caller, it takes a ROLLBACK or goes on', async (t) => {
  const { knex } = await fixture(t)
  await addLater(knex)
  const connection = await knex.client.acquireConnection()
  const run = (sql: string) => knex.raw(sql).connection(connection)
  for (const end of ['ROLLBACK', 'SELECT 1']) {
    await run('BEGIN')
    await run('INSERT INTO later VALUES (99)')
    await assert.rejects(run('COMMIT').then(), withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
    await run(end)
  }
  await assert.rejects(run('ROLLBACK').then(), withCode('RESQLITE_TRANSACTION', 'no transaction is open'))
  await assert.rejects(run('COMMIT').then(), withCode('RESQLITE_TRANSACTION', 'no transaction is open'))
  await knex.client.releaseConnection(connection)
  assert.deepEqual(await knex('later'), [])
})

// G284
test('foreign keys that were off for a transaction whose COMMIT fails are on again', async (t) => {
  const { knex } = await fixture(t)
  const connection = await knex.client.acquireConnection()
  const failing = async (trx: Knex) => {
    await trx('pets').insert({ name: 'Bo', owner: 99 })
  }
  await knex.raw('PRAGMA foreign_keys = OFF').connection(connection)
  await assert.rejects(knex.transaction(failing, { connection }), withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
  await knex.raw('PRAGMA foreign_keys = ON').connection(connection)
  await knex.client.releaseConnection(connection)
  assert.deepEqual(await knex.raw('PRAGMA foreign_keys'), [{ foreign_keys: 1 }])
  await assert.rejects(
    knex('pets').insert({ name: 'Bo', owner: 99 }),
    withCode('SQLITE_CONSTRAINT_FOREIGNKEY'),
  )
})

// G284
test('BEGIN outside of knex.transaction is refused, and leaves nothing open', async (t) => {
  const { knex } = await fixture(t)
  await assert.rejects(knex.raw('BEGIN').then(), withCode('RESQLITE_TRANSACTION', 'use knex.transaction'))
  await knex('users').insert({ name: 'Barbara' }) // would wait for an open one
  assert.deepEqual(await names(knex), ['Ada', 'Grace', 'Barbara'])
})

// G283
test('a connection that is given back twice stays that of its next user', async (t) => {
  const { knex } = await fixture(t, undefined, 1)
  const { client } = knex
  const first = await client.acquireConnection()
  await client.releaseConnection(first)
  const second = await client.acquireConnection()
  await client.releaseConnection(first)
  assert.notEqual(second, first)
  assert.equal(client.pool.numUsed(), 1)
  await client.releaseConnection(second)
  assert.equal(client.pool.numUsed(), 0)
})

for (const max of [1, 2, 3]) {
  // G283
  test(`beside streams in a pool of ${max}, what is rolled back is gone, and what is committed stays`, async (t) => {
    const { knex } = await fixture(t, undefined, max)
    const mine = new Error('mine')
    const write = (i: number) =>
      knex
        .transaction(async (trx) => {
          await trx('users').insert({ name: `row${i}` })
          await trx('pets').insert({ name: `row${i}`, owner: 1 })
          if (i % 2 === 0) throw mine
        })
        .catch((error) => assert.equal(error, mine))
    const read = async () => {
      for await (const { name } of knex<User>('users').orderBy('id').stream()) assert.ok(name)
    }
    await Promise.all(Array.from({ length: 30 }, (_, i) => [read(), write(i), read()]).flat())
    const odd = Array.from({ length: 15 }, (_, i) => `row${2 * i + 1}`).sort()
    const written = async (table: string) =>
      await knex(table).where('name', 'like', 'row%').orderBy('name').pluck('name')
    assert.deepEqual(await written('users'), odd)
    assert.deepEqual(await written('pets'), odd)
  })
}

// G285
test('PRAGMA foreign_keys holds for all connections of the pool', async (t) => {
  const { knex } = await fixture(t)
  const asked = async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => knex.raw('PRAGMA foreign_keys')))
    return new Set(answers.map(([{ foreign_keys }]) => foreign_keys))
  }
  await knex.raw('/* for the import */ pragma main.Foreign_Keys(no); -- later on again')
  assert.deepEqual(await asked(), new Set([0]))
  await Promise.all([knex('users').insert({ name: 'Barbara' }), knex('users').insert({ name: 'Tony' })])
  await knex.raw('PRAGMA foreign_keys = ON')
  assert.deepEqual(await asked(), new Set([1]))
  await Promise.all([1, 2].map((id) => knex('users').where({ id }).del()))
  assert.deepEqual(await knex('pets'), [])
})

// G285
test('PRAGMA foreign_keys on a connection of the caller is for it alone until it is given back', async (t) => {
  const { knex } = await fixture(t)
  const asked = async () => (await knex.raw('PRAGMA foreign_keys'))[0].foreign_keys
  for (const [last, then] of [
    ['ON', 0],
    ['OFF', 0],
  ] as const) {
    const connection = await knex.client.acquireConnection()
    await knex.raw('PRAGMA foreign_keys = OFF').connection(connection)
    assert.equal(await asked(), 1)
    await knex.raw(`PRAGMA foreign_keys = ${last}`).connection(connection)
    if (last === 'ON') await knex.raw('PRAGMA foreign_keys = OFF') // by another user meanwhile
    await knex.client.releaseConnection(connection)
    assert.equal(await asked(), then)
    await knex.raw('PRAGMA foreign_keys = ON')
  }
})

// G285
test('a statement beside PRAGMA foreign_keys is not lost', async (t) => {
  const { knex } = await fixture(t)
  for (const sql of [
    '/* PRAGMA foreign_keys = OFF */ DELETE FROM pets',
    '-- PRAGMA foreign_keys\nDELETE FROM users',
  ]) {
    assert.equal((await knex.raw(sql)).changes > 0, true, sql)
  }
  await assert.rejects(
    knex.raw('PRAGMA foreign_keys = OFF; DELETE FROM users').then(),
    withCode('RESQLITE_STATEMENT'),
  )
})

// G286
test("an application's own table whose name ends in _lock switches nothing off", async (t) => {
  const { knex } = await fixture(t)
  for (const [table, column] of [
    ['door', 'pin'],
    ['door', 'id'],
    ['knex_migrations', 'name'],
  ] as const) {
    await knex.schema
      .createTable(`${table}_lock`, (lock) => {
        lock.integer('is_locked')
        lock.integer(column)
      })
      .catch(withCode('SQLITE_ERROR', 'already exists'))
    await knex.raw('CREATE TABLE IF NOT EXISTS ??(id, name, batch, migration_time)', [table])
    await knex.transaction(async (trx) => {
      await trx(`${table}_lock`).where('is_locked', '=', 0).update({ is_locked: 1 })
      assert.deepEqual(await trx.raw('PRAGMA foreign_keys'), [{ foreign_keys: 1 }])
    })
  }
})

// G286
test('migrations with a table of their own name, in a schema, run without foreign keys', async (t) => {
  const { knex } = await fixture(t)
  const seen: unknown[] = []
  const migration = {
    up: async (trx: Knex) => seen.push(...(await trx.raw('PRAGMA foreign_keys'))),
    down: async () => {},
  }
  const migrationSource = {
    getMigrations: async () => ['a'],
    getMigrationName: (name: string) => name,
    getMigration: async () => migration,
  }
  for (const settings of [{ tableName: 'steps' }, { tableName: 'others', schemaName: 'main' }]) {
    await knex.migrate.latest({ migrationSource, ...settings })
  }
  assert.deepEqual(seen, [{ foreign_keys: 0 }, { foreign_keys: 0 }])
})

// G288
test('a transaction without a callback that nobody ends keeps the others of a pool of one waiting for acquireConnectionTimeout', async (t) => {
  const { knex } = await fixture(t, undefined, 1)
  const trx = await knex.transaction()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const others = Promise.allSettled([names(knex), knex.transaction()])
  while (knex.client.pool.numPendingAcquires() < 2) await new Promise(setImmediate)
  t.mock.timers.tick(60_000)
  for (const other of await others)
    assert.equal(other.status === 'rejected' && other.reason.name, 'KnexTimeoutError')
  t.mock.timers.reset()
  await trx.rollback()
  assert.deepEqual(await names(knex), ['Ada', 'Grace'])
})
