import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Collection, createCollection } from '@tanstack/db'
import {
  createSQLiteCorePersistenceAdapter,
  persistedCollectionOptions,
  type SQLiteDriver,
} from '@tanstack/db-sqlite-persistence-core'
import type { Database } from 'resqlite'
import { type CollectionSource, type LiveKey, liveCollectionOptions } from 'resqlite/tanstack-db'
import { sqliteDriver } from 'resqlite/tanstack-db/driver'
import { gate, withCode } from './support/errors.js'
import { openDatabase, tempDatabase, tempFile } from './support/temp.js'

interface Task {
  id: number
  title: string
}

interface Note {
  id: string
  text: string
  at: Date
}

async function driverOf(t: TestContext): Promise<{ db: Database; driver: SQLiteDriver }> {
  const db = await tempDatabase(t)
  const driver: SQLiteDriver = sqliteDriver(db)
  await driver.exec('CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); CREATE INDEX by_v ON t(v)')
  return { db, driver }
}

const values = async (driver: SQLiteDriver) =>
  (await driver.query<{ v: string }>('SELECT v FROM t ORDER BY id')).map(({ v }) => v)

const insert = (driver: SQLiteDriver, v: string) => driver.run('INSERT INTO t(v) VALUES (?)', [v])

/** A collection that is kept in a database. The persistence brings a release of TanStack DB of its own, with other types. */
function kept<T extends object>(db: Database, options: object): Collection<T, LiveKey> {
  const adapter = createSQLiteCorePersistenceAdapter({ driver: sqliteDriver(db) })
  const kept = persistedCollectionOptions({ ...options, persistence: { adapter } } as never)
  return createCollection(kept as never) as never
}

const notesIn = (db: Database) => kept<Note>(db, { id: 'notes', getKey: ({ id }: Note) => id })

// G400
test('statements take parameters, and queries give rows', async (t) => {
  const { driver } = await driverOf(t)
  await insert(driver, 'a')
  assert.deepEqual(await driver.query('SELECT id, v FROM t WHERE v = ?', ['a']), [{ id: 1, v: 'a' }])
  assert.deepEqual(await driver.query('INSERT INTO t(v) VALUES (?) RETURNING id', ['b']), [{ id: 2 }])
})

// G400
test('a transaction that fails leaves nothing, and one in it that fails leaves the rest', async (t) => {
  const { driver } = await driverOf(t)
  const fails = (body: (tx: SQLiteDriver) => Promise<void>, on: SQLiteDriver) =>
    assert.rejects(
      on.transaction(async (tx) => {
        await body(tx)
        throw new Error('mine')
      }),
      /mine/,
    )
  await fails((tx) => insert(tx, 'a'), driver)
  await driver.transaction(async (tx) => {
    await insert(tx, 'b')
    await fails((inner) => insert(inner, 'c'), tx)
    await insert(tx, 'd')
  })
  assert.deepEqual(await values(driver), ['b', 'd'])
})

// G400
test('while a transaction is open, other writes wait, and reads do not', async (t) => {
  const { driver } = await driverOf(t)
  const [entered, left] = [gate(), gate()]
  const transaction = driver.transaction(async (tx) => {
    await insert(tx, 'a')
    entered.open()
    await left.promise
    await insert(tx, 'b')
  })
  await entered.promise
  const other = insert(driver, 'c')
  assert.deepEqual(await values(driver), [])
  left.open()
  await Promise.all([transaction, other])
  assert.deepEqual(await values(driver), ['a', 'b', 'c'])
})

// G400
test('a callback that takes no driver is refused', async (t) => {
  const { driver } = await driverOf(t)
  await assert.rejects(
    driver.transaction(async () => {}),
    withCode('RESQLITE_OPTION', 'transaction driver argument'),
  )
})

// G400
test('a collection has what it stored, after the database was closed, too', async (t) => {
  const file = tempFile(t)
  const note = { id: 'n1', text: 'Water', at: new Date(1000) }
  const db = await openDatabase(t, file)
  const notes = notesIn(db)
  await notes.preload()
  await notes.insert(note).isPersisted.promise
  await notes.insert({ ...note, id: 'n2' }).isPersisted.promise
  await notes.update('n1', (draft) => {
    draft.text = 'Mow'
  }).isPersisted.promise
  await notes.delete('n2').isPersisted.promise
  await notes.cleanup()
  await db.close()

  const again = notesIn(await openDatabase(t, file))
  await again.preload()
  assert.equal(again.size, 1)
  const { id, text, at } = again.get('n1') as Note
  assert.deepEqual({ id, text, at }, { ...note, text: 'Mow' })
  await again.cleanup()
})

// G400
test('a collection of a live query is there before its source answers', async (t) => {
  const local = await tempDatabase(t)
  const server = await tempDatabase(t, "CREATE TABLE tasks(id, title); INSERT INTO tasks VALUES (1, 'Rake')")
  const tasks = (source: CollectionSource<Task>) =>
    kept<Task>(local, { id: 'tasks', ...liveCollectionOptions({ source, key: 'id' }) })
  const first = tasks(server.stream<Task>('SELECT id, title FROM tasks'))
  await first.preload()
  const stored = local.stream('SELECT count(*) AS n FROM applied_tx').values()
  for await (const [row] of stored) if (row?.n !== 0) break
  await first.cleanup()

  const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }
  const second = tasks({ patches: () => silent } as never)
  const shown = await new Promise((resolve) =>
    second.subscribeChanges(([change]) => change && resolve(change.value.title)),
  )
  assert.equal(shown, 'Rake')
})
