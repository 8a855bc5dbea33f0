export const drizzle = {
  id: 'drizzle',
  title: 'Drizzle 1.0',
  driver: 'better-sqlite3',
  async open({ own, ours }) {
    const { drizzle: drizzleOnSqlite } = await import('drizzle-orm/better-sqlite3')
    const { default: Sqlite } = await import('better-sqlite3')
    const { Database } = await import('resqlite')
    const { drizzle: drizzleOnResqlite } = await import('resqlite/drizzle')
    const client = new Sqlite(own)
    client.pragma('synchronous = NORMAL')
    const orm = await builder()
    return {
      // Its transactions cannot wait for anything.
      own: callsOf(drizzleOnSqlite({ client }), orm, (db, steps) =>
        db.transaction((tx) => {
          const { lastInsertRowid: id } = steps.insert(tx).run()
          const { age } = steps.select(tx, id).get()
          steps.update(tx, id, age + 1).run()
          steps.remove(tx, id).run()
        }),
      ),
      ours: callsOf(drizzleOnResqlite({ client: await Database.open(ours) }), orm, awaiting),
    }
  },
}

export const stableDrizzle = {
  id: 'drizzle-0.45',
  title: 'Drizzle 0.45',
  driver: '@libsql/client',
  peer: 'libsql (promise)',
  packages: { 'drizzle-orm': 'drizzle-orm-0.45' },
  async open({ own, ours }) {
    const { drizzle: drizzleOnLibsql } = await import('drizzle-orm/libsql')
    const { createClient } = await import('@libsql/client')
    const resqlite = await import('resqlite/libsql')
    const { drizzle: drizzleOnResqlite } = await import('resqlite/libsql/drizzle')
    const orm = await builder()
    const client = createClient({ url: `file:${own}` })
    await withNormalSynchronous(client)
    return {
      own: callsOf(drizzleOnLibsql({ client }), orm, awaiting),
      ours: callsOf(
        drizzleOnResqlite({ client: resqlite.createClient({ url: `file:${ours}` }) }),
        orm,
        awaiting,
      ),
    }
  },
}

/** libsql's client gives its connection to each transaction, and opens another one, which does not have the setting. */
async function withNormalSynchronous(client) {
  const set = () => client.execute('PRAGMA synchronous = NORMAL')
  const { transaction } = client
  client.transaction = async (mode) => {
    const begun = await transaction.call(client, mode)
    await set()
    return begun
  }
  await set()
}

async function builder() {
  const { eq, sql } = await import('drizzle-orm')
  const { integer, sqliteTable, text } = await import('drizzle-orm/sqlite-core')
  const users = sqliteTable('users', { id: integer().primaryKey(), name: text().notNull(), age: integer() })
  return { eq, sql, users }
}

function callsOf(db, { eq, sql, users }, transaction) {
  const select = (on, id) => on.select().from(users).where(eq(users.id, id))
  const insert = (on, name) => on.insert(users).values({ name, age: 1 })
  const update = (on, id, age) => on.update(users).set({ age }).where(eq(users.id, id))
  const remove = (on, id) => on.delete(users).where(eq(users.id, id))
  return {
    select: async (id) => await select(db, id).get(),
    insert: async (name) => await insert(db, name).run(),
    transaction: async (name) =>
      await transaction(db, { insert: (tx) => insert(tx, name), select, update, remove }),
    raw: async (text) => await db.all(sql.raw(text)),
    close: () => db.$client.close(),
  }
}

const awaiting = (db, { insert, select, update, remove }) =>
  db.transaction(async (tx) => {
    const id = Number((await insert(tx).run()).lastInsertRowid)
    const { age } = await select(tx, id).get()
    await update(tx, id, age + 1).run()
    await remove(tx, id).run()
  })
