import { DatabaseSync } from 'node:sqlite'

export const version = process.versions.node

export function open(file, { synchronous }) {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
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
      return (sets) => {
        db.exec('BEGIN')
        try {
          for (const params of sets) statement.run(...params)
        } catch (error) {
          db.exec('ROLLBACK')
          throw error
        }
        db.exec('COMMIT')
      }
    },
    each(sql, onRow) {
      for (const row of db.prepare(sql).iterate()) onRow(row)
    },
    close: () => db.close(),
  }
}
