// TanStack DB: collections in memory, nothing on disk. It shows how fast live queries are when they are all on the main thread and no
// database is asked. Local-only collections with an index where the SQL tables have one, the key included.
import { installedVersion } from '../../peers/installed.mjs'
import { firstValues } from './first-values.mjs'

process.env.NODE_ENV ??= 'production' // without its hints for developers
const library = await import('@tanstack/db')

export const version = installedVersion('@tanstack/db')

export async function open() {
  const collections = {}
  const errors = []
  const opened = new Set()
  const build = (query) => (q) => query.tanstack(q, collections, library, query.params)
  return {
    async create(table, rows) {
      collections[table.name] = await makeCollection(table, rows)
    },
    prepare: ({ kind, table, columns }) => writes[kind](collections[table.name], table, columns),
    all: (query) => library.queryOnce(build(query)),
    async live(query, ...listeners) {
      const collection = library.createLiveQueryCollection({ query: build(query), startSync: true })
      await collection.preload()
      opened.add(collection)
      const subscriptions = []
      await firstValues(listeners, errors, (listen) => {
        subscriptions.push(collection.subscribeChanges(() => listen(collection.toArray)))
        listen(collection.toArray)
      })
      return async () => {
        for (const subscription of subscriptions) subscription.unsubscribe()
        await collection.cleanup()
        opened.delete(collection)
      }
    },
    quiet: 15,
    errors,
    async close() {
      for (const collection of [...opened, ...Object.values(collections)]) await collection.cleanup()
    },
  }
}

const rowOf = (names, values) => Object.fromEntries(names.map((name, i) => [name, values[i]]))

async function makeCollection({ name, columns, indexes = [] }, rows) {
  const names = Object.keys(columns)
  const options = library.localOnlyCollectionOptions({
    id: name,
    getKey: (row) => row.id,
    initialData: rows.map((values) => rowOf(names, values)),
  })
  const collection = library.createCollection(options)
  await collection.preload()
  for (const terms of [['id'], ...indexes]) {
    const [column] = terms[0].split(' ')
    collection.createIndex((row) => row[column], { indexType: library.BTreeIndex })
  }
  return collection
}

const done = (transaction) => transaction.isPersisted.promise

/** Each kind of write as { run(params), batch(sets) }. */
const writes = {
  insert(collection, { columns }) {
    const names = Object.keys(columns)
    const batch = (sets) => done(collection.insert(sets.map((values) => rowOf(names, values))))
    return { run: (values) => done(collection.insert(rowOf(names, values))), batch }
  },
  replace(collection, table) {
    const names = Object.keys(table.columns)
    const { batch: insert } = writes.insert(collection, table)
    const batch = async (sets) => {
      const known = sets.filter(([key]) => collection.has(key))
      const fresh = sets.filter(([key]) => !collection.has(key))
      if (fresh.length > 0) await insert(fresh)
      if (known.length === 0) return
      const keys = known.map(([key]) => key)
      const change = (drafts) => {
        for (const [i, draft] of drafts.entries()) Object.assign(draft, rowOf(names, known[i]))
      }
      await done(collection.update(keys, change))
    }
    return { run: (values) => batch([values]), batch }
  },
  update: (collection, _table, columns) => ({
    run(params) {
      const change = (draft) => {
        for (let i = 0; i < columns.length; i++) draft[columns[i]] = params[i]
      }
      return done(collection.update(params[columns.length], change))
    },
  }),
  increment: (collection, _table, columns) => ({
    run(params) {
      const change = (draft) => {
        for (let i = 0; i < columns.length; i++) draft[columns[i]] += params[i]
      }
      return done(collection.update(params[columns.length], change))
    },
  }),
  trim: (collection) => ({
    async run([last]) {
      const keys = [...collection.keys()].filter((key) => key > last)
      if (keys.length > 0) await done(collection.delete(keys))
    },
  }),
}
