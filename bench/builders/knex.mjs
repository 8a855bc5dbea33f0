export const knex = {
  id: 'knex',
  title: 'Knex',
  driver: 'better-sqlite3',
  async open({ own, ours }) {
    const { default: createKnex } = await import('knex')
    const { default: KnexSqliteClient } = await import('knex/lib/dialects/better-sqlite3/index.js')
    const { default: Sqlite } = await import('better-sqlite3')
    const { ResqliteClient } = await import('resqlite/knex')
    /** Knex looks for better-sqlite3 beside itself. */
    class SqliteClient extends KnexSqliteClient {
      _driver() {
        return Sqlite
      }
    }
    const afterCreate = (db, done) => done(db.pragma('synchronous = NORMAL') && null, db)
    const configs = {
      own: { client: SqliteClient, connection: { filename: own }, pool: { afterCreate } },
      ours: { client: ResqliteClient, connection: { filename: ours } },
    }
    return Object.fromEntries(
      Object.entries(configs).map(([name, config]) => [
        name,
        callsOf(createKnex({ ...config, useNullAsDefault: true })),
      ]),
    )
  },
}

function callsOf(db) {
  const select = (on, id) => on('users').where({ id }).first()
  const insert = (on, name) => on('users').insert({ name, age: 1 })
  return {
    select: (id) => select(db, id),
    insert: (name) => insert(db, name),
    transaction: (name) =>
      db.transaction(async (trx) => {
        const [id] = await insert(trx, name)
        const { age } = await select(trx, id)
        await trx('users')
          .where({ id })
          .update({ age: age + 1 })
        await trx('users').where({ id }).delete()
      }),
    raw: (text) => db.raw(text),
    close: () => db.destroy(),
  }
}
