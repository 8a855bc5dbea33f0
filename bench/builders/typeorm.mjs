export const typeorm = {
  id: 'typeorm',
  title: 'TypeORM',
  driver: 'sqlite3',
  async open({ own, ours }) {
    const { DataSource, EntitySchema } = await import('typeorm')
    const { default: sqlite3 } = await import('sqlite3')
    const { default: resqlite } = await import('@resqlite/sqlite3')
    const User = new EntitySchema({
      name: 'User',
      tableName: 'users',
      columns: {
        id: { type: Number, primary: true, generated: true },
        name: { type: String },
        age: { type: Number, nullable: true },
      },
    })
    const open = async (driver, database) => {
      const source = new DataSource({ type: 'sqlite', driver, database, entities: [User], enableWAL: true })
      await source.initialize()
      await source.query('PRAGMA synchronous = NORMAL')
      return callsOf(source)
    }
    return { own: await open(sqlite3, own), ours: await open(resqlite, ours) }
  },
}

function callsOf(source) {
  const users = (manager) => manager.getRepository('User')
  const { manager } = source
  return {
    select: (id) => users(manager).findOneBy({ id }),
    insert: (name) => users(manager).insert({ name, age: 1 }),
    transaction: (name) =>
      source.transaction(async (tx) => {
        const { id } = (await users(tx).insert({ name, age: 1 })).identifiers[0]
        const { age } = await users(tx).findOneBy({ id })
        await users(tx).update({ id }, { age: age + 1 })
        await users(tx).delete({ id })
      }),
    raw: (text) => source.query(text),
    close: () => source.destroy(),
  }
}
