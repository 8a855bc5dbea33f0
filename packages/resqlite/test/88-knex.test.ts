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

function knexOn(database: Database, transactionTimeout?: number): Knex {
  const connection = { database, transactionTimeout } as Knex.StaticConnectionConfig
  return createKnex({ client: ResqliteClient, connection, useNullAsDefault: true })
}

/** A database with two users, each of whom has a pet. */
async function fixture(t: TestContext, transactionTimeout?: number): Promise<{ db: Database; knex: Knex }> {
  const db = await tempDatabase(t)
  const knex = knexOn(db, transactionTimeout)
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

test('columnInfo tells types, lengths and defaults', async (t) => {
  const { knex } = await fixture(t)
  assert.deepEqual(await knex('users').columnInfo('name'), {
    type: 'varchar',
    maxLength: '255',
    nullable: false,
    defaultValue: null,
  })
})

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

test('a stream gives the rows, and leaving it frees the thread', async (t) => {
  const { db, knex } = await fixture(t)
  const seen: string[] = []
  for await (const { name } of knex<User>('users').orderBy('id').stream()) seen.push(name)
  assert.deepEqual(seen, ['Ada', 'Grace'])
  const numbers = '(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)'
  for await (const { x } of knex.select('x').from(knex.raw(numbers)).stream()) if (x === 1000) break
  while ((await db.diagnostics()).leases.open > 0);
})

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
