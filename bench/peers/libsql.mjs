// Only finding the first row of `all` happens off the main thread; `get` and `run` block and return values.
import Database from 'libsql/promise'
import { cached } from './cached.mjs'
import { transactionsInTurn } from './in-turn.mjs'
import { installedVersion } from './installed.mjs'

export const version = installedVersion('libsql')

export async function open(file, { synchronous }) {
  // A connection that was closed may still hold the file for a moment.
  const db = new Database(file, { timeout: 1000 })
  await db.pragma('journal_mode = WAL', { simple: true })
  await db.exec(`PRAGMA synchronous = ${synchronous}`)
  const stringify = (rows) => Buffer.from(JSON.stringify(rows))
  const statement = cached((sql) => db.prepare(sql))
  const runAll = (statement, sets) => {
    for (const params of sets) statement.run(...params)
  }
  const exec = (sql) => db.exec(sql)
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
    exec,
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
      return db.transaction((sets) => runAll(statement, sets))
    },
    // Its own `transaction` commits without waiting for an asynchronous body.
    transaction: transactionsInTurn(exec, {
      run: async (sql, params) => (await statement(sql)).run(...params),
      get: async (sql, params) => (await statement(sql)).get(...params),
      all: async (sql, params) => (await statement(sql)).all(...params),
      batch: async (sql, sets) => runAll(await statement(sql), sets),
    }),
    async each(sql, onRow) {
      const statement = await db.prepare(sql)
      for (const row of await statement.iterate()) onRow(row)
    },
    close: () => db.close(),
  }
}
