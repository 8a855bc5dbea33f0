import Database from 'better-sqlite3'
import { installedVersion } from './installed.mjs'

export const version = installedVersion('better-sqlite3')

export function open(file, { synchronous }) {
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.pragma(`synchronous = ${synchronous}`)
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
      return db.transaction((sets) => {
        for (const params of sets) statement.run(...params)
      })
    },
    each(sql, onRow) {
      for (const row of db.prepare(sql).iterate()) onRow(row)
    },
    close: () => {
      db.close()
    },
  }
}
