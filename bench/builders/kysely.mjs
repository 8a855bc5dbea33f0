export const kysely = {
  id: 'kysely',
  title: 'Kysely',
  driver: 'better-sqlite3',
  async open({ own, ours }) {
    const { Kysely, SqliteDialect, sql } = await import('kysely')
    const { default: Sqlite } = await import('better-sqlite3')
    const { Database } = await import('resqlite')
    const { ResqliteDialect } = await import('resqlite/kysely')
    const database = new Sqlite(own)
    database.pragma('synchronous = NORMAL')
    return {
      own: callsOf(new Kysely({ dialect: new SqliteDialect({ database }) }), sql),
      ours: callsOf(
        new Kysely({ dialect: new ResqliteDialect({ database: await Database.open(ours) }) }),
        sql,
      ),
    }
  },
}

function callsOf(db, sql) {
  const select = (on, id) => on.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  const insert = (on, name) => on.insertInto('users').values({ name, age: 1 }).executeTakeFirstOrThrow()
  return {
    select: (id) => select(db, id),
    insert: (name) => insert(db, name),
    transaction: (name) =>
      db.transaction().execute(async (trx) => {
        const id = Number((await insert(trx, name)).insertId)
        const { age } = await select(trx, id)
        await trx
          .updateTable('users')
          .set({ age: age + 1 })
          .where('id', '=', id)
          .execute()
        await trx.deleteFrom('users').where('id', '=', id).execute()
      }),
    raw: async (text) => (await sql.raw(text).execute(db)).rows,
    close: () => db.destroy(),
  }
}
