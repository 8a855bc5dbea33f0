import { DatabaseSync } from 'node:sqlite'
import { cached } from './cached.mjs'

export const version = process.versions.node

export function open(file, { synchronous }) {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  const statement = cached((sql) => db.prepare(sql))
  const runAll = (statement, sets) => {
    for (const params of sets) statement.run(...params)
  }
  const inTransaction = (work) => {
    db.exec('BEGIN')
    try {
      const result = work()
      db.exec('COMMIT')
      return result
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
  const tx = {
    run: (sql, params) => statement(sql).run(...params),
    get: (sql, params) => statement(sql).get(...params),
    all: (sql, params) => statement(sql).all(...params),
    batch: (sql, sets) => runAll(statement(sql), sets),
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
    exec: (sql) => db.exec(sql),
    pragma: (name) => Object.values(db.prepare(`PRAGMA ${name}`).get())[0],
    jsonBytes(sql) {
      const statement = db.prepare(sql)
      return () => Buffer.from(JSON.stringify(statement.all()))
    },
    batch(sql) {
      const statement = db.prepare(sql)
      return (sets) => inTransaction(() => runAll(statement, sets))
    },
    transaction: (body) => inTransaction(() => body(tx)),
    each(sql, onRow) {
      for (const row of db.prepare(sql).iterate()) onRow(row)
    },
    close: () => db.close(),
  }
}
