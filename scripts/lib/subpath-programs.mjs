// A program for each subpath of the package, as a new project has it. Every program ends with `done`, which says that it was right.

const notes = `
  import { deepEqual } from 'node:assert/strict'
  import { Database } from 'resqlite'
  const db = await Database.open(':memory:')
  await db.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'packed')")
  const live = db.stream('SELECT * FROM notes')
  const expected = [{ id: 1, text: 'packed' }]
  async function done(rows) {
    deepEqual(rows.map((row) => ({ ...row })), expected)
    await db.close()
    console.log('done')
  }
`

/** A server in another framework draws what there is already. */
const drawn = `
  const source = { current: expected, subscribe: () => ({ unsubscribe() {} }) }
  const textOf = (html) => html.replace(/<!--.*?-->|<[^>]*>/g, '')
`

/** The packages that a program needs in another release than the others, and where that is installed. */
export const otherReleases = { 'libsql/drizzle': { 'drizzle-orm': 'drizzle-orm-0.45' } }

export const subpathPrograms = {
  sse: `${notes}
    import { sendSSE, sseEvents, sseResponse } from 'resqlite/sse'
    if (typeof sendSSE !== 'function') throw new Error('sendSSE')
    const response = sseResponse(live, new Request('http://localhost/'), { key: 'id' })
    await response.body.cancel()
    for await (const { data } of sseEvents(live, { key: 'id' })) {
      await done(JSON.parse(data).added.map(({ row }) => row))
      break
    }
  `,
  client: `${notes}
    import { createServer } from 'node:http'
    import { remoteQuery } from 'resqlite/client'
    import { sendSSE } from 'resqlite/sse'
    const server = createServer((_, response) => void sendSSE(live, response, { key: 'id' })).listen(0, async () => {
      const remote = remoteQuery('http://localhost:' + server.address().port)
      const rows = await new Promise((resolve) => remote.subscribe(resolve))
      await done(rows)
      server.close()
      process.exit() // the remote query would try again
    })
  `,
  'message-port': `${notes}
    import { MessageChannel } from 'node:worker_threads'
    import { remoteQuery } from 'resqlite/client'
    import { portFetch, servePort } from 'resqlite/message-port'
    import { sseResponse } from 'resqlite/sse'
    const { port1, port2 } = new MessageChannel()
    servePort(port1, (request) => sseResponse(live, request, { key: 'id' }))
    let stop
    const rows = await new Promise((resolve) => {
      stop = remoteQuery('/', { fetch: portFetch(port2) }).subscribe(resolve)
    })
    stop()
    port1.close()
    await done(rows)
  `,
  react: `${notes}${drawn}
    import { createElement } from 'react'
    import { renderToString } from 'react-dom/server'
    import { useLiveQuery } from 'resqlite/react'
    const Notes = () => createElement('p', null, JSON.stringify(useLiveQuery(source).data[0].text))
    await done([{ id: 1, text: JSON.parse(textOf(renderToString(createElement(Notes))).replaceAll('&quot;', '"')) }])
  `,
  vue: `${notes}${drawn}
    import { createSSRApp, h } from 'vue'
    import { renderToString } from 'vue/server-renderer'
    import { useLiveQuery } from 'resqlite/vue'
    const app = createSSRApp({
      setup() {
        const { data } = useLiveQuery(source)
        return () => h('p', data.value[0].text)
      },
    })
    await done([{ id: 1, text: textOf(await renderToString(app)) }])
  `,
  svelte: `${notes}
    import { get } from 'svelte/store'
    import { liveQuery } from 'resqlite/svelte'
    const store = liveQuery(live)
    let stop
    const rows = await new Promise((resolve) => {
      stop = store.subscribe(({ data }) => data && resolve(data))
    })
    deepEqual(get(store).data, rows)
    stop()
    await done(rows)
  `,
  solid: `${notes}${drawn}
    import { createRoot } from 'solid-js'
    import { createLiveQuery } from 'resqlite/solid'
    await done(createRoot(() => createLiveQuery(() => source)().data))
  `,
  'tanstack-db': `${notes}
    import { createCollection } from '@tanstack/db'
    import { liveCollectionOptions } from 'resqlite/tanstack-db'
    const collection = createCollection(liveCollectionOptions({ source: live, key: 'id' }))
    await collection.preload()
    const { id, text } = collection.get(1)
    await collection.cleanup()
    await done([{ id, text }])
  `,
  'tanstack-db/driver': `${notes}
    import { createCollection } from '@tanstack/db'
    import { createSQLiteCorePersistenceAdapter, persistedCollectionOptions } from '@tanstack/db-sqlite-persistence-core'
    import { sqliteDriver } from 'resqlite/tanstack-db/driver'
    const adapter = createSQLiteCorePersistenceAdapter({ driver: sqliteDriver(db) })
    const kept = createCollection(
      persistedCollectionOptions({ id: 'kept', getKey: ({ id }) => id, persistence: { adapter } }),
    )
    await kept.preload()
    for (const note of await db.select('SELECT * FROM notes')) await kept.insert(note).isPersisted.promise
    await kept.cleanup()
    await done((await adapter.loadSubset('kept', {})).map(({ value }) => value))
  `,
  adapter: `${notes}
    import { Connection, Pool, transactionStep } from 'resqlite/adapter'
    const connection = new Connection(new Pool(db))
    await transactionStep('BEGIN')(connection)
    const { rows } = await connection.query('SELECT * FROM notes')
    await connection.close()
    await done(rows)
  `,
  kysely: `${notes}
    import { Kysely } from 'kysely'
    import { ResqliteDialect } from 'resqlite/kysely'
    const kysely = new Kysely({ dialect: new ResqliteDialect({ database: db }) })
    await done(await kysely.selectFrom('notes').selectAll().execute())
  `,
  drizzle: `${notes}
    import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
    import { drizzle } from 'resqlite/drizzle'
    const table = sqliteTable('notes', { id: integer().primaryKey(), text: text() })
    await done(await drizzle({ client: db }).select().from(table))
  `,
  knex: `${notes}
    import createKnex from 'knex'
    import { ResqliteClient } from 'resqlite/knex'
    const connection = { filename: 'knex.db' }
    const knex = createKnex({ client: ResqliteClient, connection, useNullAsDefault: true })
    await knex.schema.createTable('notes', (table) => (table.increments(), table.string('text')))
    await knex('notes').insert({ text: 'packed' })
    const rows = await knex('notes')
    await knex.destroy()
    await done(rows)
  `,
  prisma: `${notes}
    import { PrismaResqlite } from 'resqlite/prisma'
    const adapter = await new PrismaResqlite({ url: 'file:prisma.db' }).connect()
    await adapter.executeScript("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'packed')")
    const { columnNames, rows } = await adapter.queryRaw({ sql: 'SELECT * FROM notes', args: [], argTypes: [] })
    await adapter.dispose()
    await done(rows.map((row) => Object.fromEntries(row.map((value, i) => [columnNames[i], value]))))
  `,
  libsql: `${notes}
    import { createClient } from 'resqlite/libsql'
    const client = createClient({ database: db })
    await done((await client.execute('SELECT * FROM notes')).rows)
  `,
  'libsql/drizzle': `${notes}
    import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
    import { createClient } from 'resqlite/libsql'
    import { drizzle, live as follow } from 'resqlite/libsql/drizzle'
    const table = sqliteTable('notes', { id: integer().primaryKey(), text: text() })
    const drizzled = drizzle(createClient({ database: db }))
    deepEqual(await drizzled.select().from(table), expected)
    for await (const rows of follow(drizzled, drizzled.select().from(table))) {
      await done(rows)
      break
    }
  `,
  metrics: `${notes}
    import { databaseMetrics } from 'resqlite/metrics'
    const text = await databaseMetrics.text({ app: db })
    if (!text.includes('resqlite_up{database="app"} 1')) throw new Error(text)
    await done(await db.select('SELECT * FROM notes'))
  `,
  profile: `${notes}
    import { available } from 'resqlite/profile'
    if (process.env.RESQLITE_TEST_PUBLISHED && available) throw new Error('the published native module counts where time goes')
    await done(await db.select('SELECT * FROM notes'))
  `,
  seam: `${notes}
    import { clusterLogs } from 'resqlite/seam'
    if (process.env.RESQLITE_TEST_PUBLISHED && clusterLogs().length > 0) throw new Error('the published native module knows logs of clusters')
    await done(await db.select('SELECT * FROM notes'))
  `,
}
