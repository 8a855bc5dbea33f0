import './support/native.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Generated, Kysely } from 'kysely'
import { live, ResqliteDialect } from 'resqlite/kysely'
import { three } from './support/nodes.js'

interface Schema {
  users: { id: Generated<number>; name: string }
}

const SCHEMA =
  "CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE); INSERT INTO users VALUES (1, 'Ada')"

// G323, G349
test('Kysely writes and reads through a follower', async (t) => {
  const { follower } = await three(t, SCHEMA)
  const kysely = new Kysely<Schema>({ dialect: new ResqliteDialect({ database: follower }) })
  const inserted = await kysely.insertInto('users').values({ name: 'Grace' }).returningAll().execute()
  assert.deepEqual(inserted, [{ id: 2, name: 'Grace' }])
  await kysely.transaction().execute(async (trx) => {
    await trx.updateTable('users').set({ name: 'Barbara' }).where('id', '=', 1).execute()
  })
  const names = await kysely.selectFrom('users').select('name').orderBy('id').execute()
  assert.deepEqual(names, [{ name: 'Barbara' }, { name: 'Grace' }])
})

// G349
test('a live query of Kysely shows on a follower what another node writes', async (t) => {
  const { follower, other } = await three(t, SCHEMA)
  const kysely = new Kysely<Schema>({ dialect: new ResqliteDialect({ database: follower }) })
  const values = live(kysely, kysely.selectFrom('users').select('name').where('id', '=', 1))[
    Symbol.asyncIterator
  ]()
  assert.deepEqual((await values.next()).value, [{ name: 'Ada' }])
  await other.execute("UPDATE users SET name = 'Grace'")
  assert.deepEqual((await values.next()).value, [{ name: 'Grace' }])
  await values.return?.()
})
