import Database from 'better-sqlite3'
import { cached } from './cached.mjs'
import { installedVersion } from './installed.mjs'

export const version = installedVersion('better-sqlite3')

export function open(file, { synchronous }) {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${synchronous}`)
  const statement = cached((sql) => db.prepare(sql))
  const runAll = (statement, sets) => {
    for (const params of sets) statement.run(...params)
  }
  const transact = db.transaction((body) => body(tx)) // a savepoint when it is called inside of itself
  const tx = {
    run: (sql, params) => statement(sql).run(...params),
    get: (sql, params) => statement(sql).get(...params),
    all: (sql, params) => statement(sql).all(...params),
    batch: (sql, sets) => runAll(statement(sql), sets),
    transaction: transact,
  }
  return {
    sync: true,
    prepare(sql) {
      const statement = db.prepare(sql)
      return {
        all: (params) => statement.all(...params),
        get: (params) => statement.get(...params),
        run: (params) => statement.run(...params),
      }
    },
    exec: (sql) => {
      db.exec(sql)
    },
    pragma: (name) => db.pragma(name, { simple: true }),
    jsonBytes(sql) {
      const statement = db.prepare(sql)
      return () => Buffer.from(JSON.stringify(statement.all()))
    },
    batch(sql) {
      const statement = db.prepare(sql)
      return db.transaction((sets) => runAll(statement, sets))
    },
    transaction: transact,
    each(sql, onRow) {
      for (const row of db.prepare(sql).iterate()) onRow(row)
    },
    close: () => {
      db.close()
    },
  }
}
