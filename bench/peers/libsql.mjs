import Database from 'libsql/promise'
import { installedVersion } from './installed.mjs'

export const version = installedVersion('libsql')

export async function open(file, { synchronous }) {
  const db = new Database(file)
  await db.pragma('journal_mode = WAL', { simple: true })
  await db.exec(`PRAGMA synchronous = ${synchronous}`)
  const stringify = (rows) => Buffer.from(JSON.stringify(rows))
  return {
    sync: false,
    async prepare(sql) {
      const statement = await db.prepare(sql)
      return {
        all: (params) => statement.all(...params),
        get: (params) => statement.get(...params),
        run: (params) => statement.run(...params),
      }
    },
    exec: (sql) => db.exec(sql),
    pragma: async (name) => {
      const { _metadata, ...row } = await (await db.prepare(`PRAGMA ${name}`)).get()
      return Object.values(row)[0]
    },
    async jsonBytes(sql) {
      const statement = await db.prepare(sql)
      return async () => stringify(await statement.all())
    },
    async batch(sql) {
      const statement = await db.prepare(sql)
      return db.transaction((sets) => {
        for (const params of sets) statement.run(...params)
      })
    },
    async each(sql, onRow) {
      const statement = await db.prepare(sql)
      for (const row of await statement.iterate()) onRow(row)
    },
    close: () => db.close(),
  }
}
