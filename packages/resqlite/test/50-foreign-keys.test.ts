import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TransactionOptions } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE orders(id INTEGER PRIMARY KEY, user REFERENCES users ON DELETE CASCADE);
  INSERT INTO users VALUES (1, 'Ada'), (2, 'Bob');
  INSERT INTO orders VALUES (10, 1), (11, 2), (12, 2);
`
/** SQLite's way to change a table: a new one takes its place. */
const MIGRATION = `
  CREATE TABLE new_users(id INTEGER PRIMARY KEY, name TEXT NOT NULL CHECK (name <> ''));
  INSERT INTO new_users SELECT * FROM users;
  DROP TABLE users;
  ALTER TABLE new_users RENAME TO users;
`
const OFF = { foreignKeys: false } as const
const ORPHAN = 'INSERT INTO orders VALUES (99, 7)'

// G216
test('a migration that rebuilds a parent table loses its child rows, and with foreignKeys: false it does not', async (t) => {
  const careless = await tempDatabase(t, SCHEMA)
  await careless.transaction((tx) => tx.exec(MIGRATION))
  assert.deepEqual(await careless.select('SELECT * FROM orders'), [], 'DROP TABLE deleted them by cascade')

  const db = await tempDatabase(t, SCHEMA)
  await db.transaction((tx) => tx.exec(MIGRATION), OFF)
  assert.equal((await db.select('SELECT * FROM orders')).length, 3)
  await assert.rejects(db.execute("INSERT INTO users VALUES (3, '')"), withCode('SQLITE_CONSTRAINT_CHECK'))
  await assert.rejects(db.execute(ORPHAN), withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
  await db.execute('DELETE FROM users WHERE id = 2')
  assert.deepEqual(await db.select('SELECT id FROM orders'), [{ id: 10 }], 'the cascade works again')
})

// G216
test('a commit without foreign keys names the rows that violate one, and rolls back', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const migration = db.transaction(async (tx) => {
    await tx.exec(MIGRATION)
    await tx.execute('DELETE FROM users WHERE id = 1')
  }, OFF)
  await assert.rejects(
    migration,
    withCode('SQLITE_CONSTRAINT_FOREIGNKEY', 'row 10 of orders', 'a row of users'),
  )
  assert.equal((await db.select('SELECT * FROM users')).length, 2)
  await db.execute("INSERT INTO users VALUES (3, '')")
})

// G216
test('foreign keys are on again when the body fails or the signal fires', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const failing = db.transaction(async (tx) => {
    await tx.execute(ORPHAN)
    throw new Error('mine')
  }, OFF)
  await assert.rejects(failing, /mine/)
  await assert.rejects(db.execute(ORPHAN), withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
  const controller = new AbortController()
  const aborted = db.transaction(
    async (tx) => {
      await tx.execute(ORPHAN)
      controller.abort()
    },
    { ...OFF, signal: controller.signal },
  )
  await assert.rejects(aborted, withCode('RESQLITE_ABORTED'))
  await assert.rejects(db.execute(ORPHAN), withCode('SQLITE_CONSTRAINT_FOREIGNKEY'))
})

// G216
test('a nested transaction refuses the option foreignKeys', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await db.transaction(async (tx) => {
    for (const outer of [tx, db]) {
      const nested = outer.transaction(async () => {}, OFF)
      await assert.rejects(nested, withCode('RESQLITE_OPTION', 'foreignKeys', 'outermost'))
    }
  }, OFF)
})

test('the option foreignKeys of a transaction can only be false', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const options = { foreignKeys: true } as unknown as TransactionOptions
  await assert.rejects(
    db.transaction(async () => {}, options),
    withCode('RESQLITE_OPTION', 'foreignKeys must be false'),
  )
})

test('a dump may switch foreign keys off for itself', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await db.exec('PRAGMA foreign_keys = OFF; BEGIN; CREATE TABLE dumped(x); COMMIT;')
  assert.deepEqual((await db.execute('PRAGMA foreign_keys')).rows, [{ foreign_keys: 1 }])
})

test('PRAGMA foreign_keys = … is refused with the advice to use the option, and can be read', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const advice = 'a transaction that has foreign keys off'
  const refused = withCode('RESQLITE_STATEMENT', 'foreign_keys', advice)
  for (const sql of ['PRAGMA foreign_keys = OFF', 'PRAGMA foreign_keys(0)']) {
    await assert.rejects(db.execute(sql), refused)
    await assert.rejects(db.select(sql), withCode('RESQLITE_READ_ONLY', 'foreign_keys', advice))
    await assert.rejects(db.query(sql), refused)
    await db.transaction(async (tx) => {
      await assert.rejects(tx.execute(sql), refused)
      await assert.rejects(tx.exec(sql), refused)
    })
  }
  assert.deepEqual(await db.selectOne('PRAGMA foreign_keys'), { foreign_keys: 1 })
  await db.transaction(async (tx) => {
    assert.deepEqual(await tx.selectOne('PRAGMA foreign_keys'), { foreign_keys: 0 })
  }, OFF)
})
