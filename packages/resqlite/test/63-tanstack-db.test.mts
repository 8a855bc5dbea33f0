import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createCollection, createTransaction } from '@tanstack/db'
import { remoteQuery } from 'resqlite/client'
import { type LiveCollectionConfig, liveCollectionOptions } from 'resqlite/tanstack-db'
import { random } from './support/random.js'
import { ScriptedServer } from './support/scripted-server.mjs'
import { noStreams, servedTasks, TASKS, type Task, taskDatabase, tasksOf, turn } from './support/tasks.mjs'
import { tempDatabase } from './support/temp.js'

/** A collection that is in use until the test ends, with all changes that it told. */
function collectionOf(t: TestContext, config: LiveCollectionConfig<Task>) {
  const collection = createCollection(liveCollectionOptions(config))
  const changes: string[] = []
  let look = () => {}
  const subscription = collection.subscribeChanges(
    (told) => {
      changes.push(...told.map(({ type, value }) => `${type} ${value.title}`))
      look()
    },
    { includeInitialState: true },
  )
  t.after(async () => {
    subscription.unsubscribe()
    await collection.cleanup()
  })
  const titles = () => [...collection.values()].map(({ title }) => title).sort()
  /** Resolves a turn after the change that brings these titles. */
  const until = async (...expected: string[]) => {
    await new Promise<void>((resolve) => {
      look = () => titles().join() === expected.join() && resolve()
      look()
    })
    await turn()
  }
  return { collection, changes, titles, until }
}

async function fixture(
  t: TestContext,
  kind: 'live' | 'remote',
  config: Partial<LiveCollectionConfig<Task>> = {},
) {
  const db = await taskDatabase(t)
  const source = kind === 'live' ? tasksOf(db, 7) : remoteQuery<Task>(await servedTasks(t, db))
  return { db, ...collectionOf(t, { source, key: 'id', ...config }) }
}

const KINDS = ['live', 'remote'] as const

for (const kind of KINDS) {
  // G175
  test(`${kind}: a collection has the rows, and is told only what changes in them`, async (t) => {
    const { db, collection, changes, until } = await fixture(t, kind)
    await collection.preload()
    assert.deepEqual(collection.get(2), { ...collection.get(2), id: 2, title: 'Mow' })
    await until('Mow', 'Rake')
    changes.length = 0
    await db.execute("UPDATE tasks SET title = 'Sow' WHERE id = 2")
    await until('Rake', 'Sow')
    await db.execute("INSERT INTO tasks(id, title) VALUES (4, 'Dig')")
    await until('Dig', 'Rake', 'Sow')
    await db.execute('DELETE FROM tasks WHERE id = 1')
    await until('Dig', 'Sow')
    assert.deepEqual(changes, ['update Sow', 'insert Dig', 'delete Rake'])
  })

  // G176
  test(`${kind}: an optimistic row stays until the collection has what was written`, async (t) => {
    const { db, collection, changes, until } = await fixture(t, kind, {
      onInsert: ({ transaction }) => {
        const { id, title } = transaction.mutations[0].modified
        return db.execute('INSERT INTO tasks(id, title) VALUES (?, upper(?))', [id, title])
      },
      onUpdate: async ({ transaction }) => {
        const { id, title } = transaction.mutations[0].modified
        const { commit } = await db.execute('UPDATE tasks SET title = ? WHERE id = ?', [title, id])
        return commit
      },
      onDelete: ({ transaction }) =>
        db.execute('DELETE FROM tasks WHERE id = ?', [transaction.mutations[0].key]),
    })
    await collection.preload()
    await until('Mow', 'Rake')
    changes.length = 0
    const inserted = collection.insert({ id: 4, title: 'Dig' })
    assert.equal(collection.get(4)?.title, 'Dig')
    await inserted.isPersisted.promise
    assert.equal(collection.get(4)?.title, 'DIG')
    const updated = collection.update(1, (draft) => {
      draft.title = 'Rest'
    })
    assert.equal(collection.get(1)?.title, 'Rest')
    await updated.isPersisted.promise
    const deleted = collection.delete(2)
    await deleted.isPersisted.promise
    await until('DIG', 'Rest')
    // Never the state before in between.
    for (const back of ['delete Dig', 'update Rake', 'insert Mow']) assert.ok(!changes.includes(back), back)
  })

  // G175
  test(`${kind}: whatever is written, the collection ends with the result`, async (t) => {
    const { seed, int, pick } = random()
    t.diagnostic(`seed ${seed}`)
    const { db, collection } = await fixture(t, kind)
    const write = [
      () => db.execute('INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)', [int(20), 7 + int(2), `${int(99)}`]),
      () => db.execute('DELETE FROM tasks WHERE id = ?', [int(20)]),
      () =>
        db.execute('UPDATE tasks SET list = 15 - list, title = ? WHERE id % 5 = ?', [`${int(99)}`, int(5)]),
    ]
    await collection.preload()
    for (let i = 0; i < 200; i++) await pick(write)()
    const expected = JSON.stringify(await db.select('SELECT id, title FROM tasks WHERE list = 7 ORDER BY id'))
    const rows = () => [...collection.values()].map(({ id, title }) => ({ id, title }))
    const sorted = () => JSON.stringify(rows().sort((a, b) => a.id - b.id))
    while (sorted() !== expected) await turn()
  })
}

// G176
test('a write that fails is taken back', async (t) => {
  const { collection, until } = await fixture(t, 'live', {
    onInsert: async () => {
      throw new Error('refused')
    },
  })
  await collection.preload()
  const { isPersisted } = collection.insert({ id: 4, title: 'Dig' })
  await assert.rejects(isPersisted.promise, /refused/)
  await until('Mow', 'Rake')
})

// G176
test('a write that shows in nothing is waited for no longer than the timeout', async (t) => {
  const { db, collection } = await fixture(t, 'live', {
    timeout: 1,
    onInsert: () => db.execute("INSERT INTO tasks VALUES (4, 8, 'elsewhere')"),
  })
  await collection.preload()
  await collection.insert({ id: 4, title: 'Dig' }).isPersisted.promise
  assert.equal(collection.has(4), false)
})

// G176
test('a transaction of its own waits for its commit', async (t) => {
  const { db, collection, until } = await fixture(t, 'remote')
  await collection.preload()
  const transaction = createTransaction({
    mutationFn: async () => {
      await db.execute("INSERT INTO tasks(id, title) VALUES (4, 'Dig')")
      const { commit } = await db.execute('DELETE FROM tasks WHERE id = 1')
      await collection.utils.awaitCommit(commit)
    },
  })
  transaction.mutate(() => {
    collection.insert({ id: 4, title: 'Dig' })
    collection.delete(1)
  })
  await until('Dig', 'Mow')
  await transaction.isPersisted.promise
  await until('Dig', 'Mow')
})

/** A collection that waits long for its commits, with the rows that a server sent at commit 50. */
async function followed(t: TestContext) {
  const server = new ScriptedServer()
  const source = remoteQuery<Task>('/tasks', { fetch: server.fetch, minDelay: 1, maxDelay: 1 })
  const { collection, until } = collectionOf(t, { source, key: 'id', timeout: 2 ** 30 })
  const first = await server.accept()
  first.full(50, [{ id: 1, title: 'Rake' }])
  await until('Rake')
  return { server, source, collection, until, first }
}

// G176
test('a server that starts anew ends the waiting for commits of the old one', async (t) => {
  const { server, collection, until, first } = await followed(t)
  const written = collection.utils.awaitCommit({ commit: 60 })
  first.end()
  const second = await server.accept()
  second.full(2, [
    { id: 1, title: 'Rake' },
    { id: 2, title: 'Mow' },
  ])
  await written
  await until('Mow', 'Rake')
})

// G176
test('a commit of a server that started anew is waited for while the rows are those of the old one', async (t) => {
  const { server, source, collection, until, first } = await followed(t)
  first.end()
  const second = await server.accept()
  assert.equal(source.state, 'stale')
  let isThere = false
  const written = collection.utils.awaitCommit({ commit: 3 }).then(() => {
    isThere = true
  })
  second.full(2, [
    { id: 1, title: 'Rake' },
    { id: 2, title: 'Mow' },
  ])
  await until('Mow', 'Rake')
  assert.equal(isThere, false)
  second.full(3, [{ id: 1, title: 'Rake' }])
  await written
})

// G175
test('a collection that began with what a server wrote into the page follows a server that starts anew', async (t) => {
  const server = new ScriptedServer()
  const added = [1, 2].map((id, index) => ({ index, row: { id, title: `old ${id}` } }))
  const lists = { added, removed: [], updated: [], moved: [] }
  const data = JSON.stringify({ ...lists, commit: 5, since: 0, version: 5 })
  const initial = { event: 'full', id: 'old.5', data }
  const source = remoteQuery<Task>('/tasks', { fetch: server.fetch, initial })
  const { until } = collectionOf(t, { source, key: 'id' })
  await until('old 1', 'old 2')
  const answer = await server.accept()
  answer.full(2, [
    { id: 2, title: 'Mow' },
    { id: 3, title: 'Dig' },
  ])
  await until('Dig', 'Mow')
})

test('an error before the first rows is that of the collection, until the query works', async (t) => {
  const db = await tempDatabase(t)
  const { collection, until } = collectionOf(t, { source: tasksOf(db, 7), key: 'id' })
  await assert.rejects(collection.preload(), /no such table/)
  assert.equal(collection.status, 'error')
  await db.exec(TASKS)
  await until('Mow', 'Rake')
  assert.equal(collection.status, 'ready')
})

test('a later error leaves the rows, and the collection follows again when the query works', async (t) => {
  const { db, collection, until } = await fixture(t, 'live')
  await collection.preload()
  await db.exec('ALTER TABLE tasks RENAME TO hidden')
  await assert.rejects(db.select('SELECT * FROM tasks'))
  assert.deepEqual([collection.status, collection.size], ['ready', 2])
  await db.exec("ALTER TABLE hidden RENAME TO tasks; UPDATE tasks SET title = 'Sow' WHERE id = 2")
  await until('Rake', 'Sow')
})

test('a key may be several columns', async (t) => {
  const db = await taskDatabase(t)
  const { collection, until } = collectionOf(t, { source: tasksOf(db, 7), key: ['id', 'title'] })
  await until('Mow', 'Rake')
  assert.equal(collection.get('[1,"Rake"]')?.id, 1)
})

test('a collection that is cleaned up frees the live query', async (t) => {
  const { db, collection } = await fixture(t, 'live')
  await collection.preload()
  await collection.cleanup()
  await noStreams(db)
})
