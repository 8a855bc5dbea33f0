// The library of this repository: one stream per live query, `subscribe` for each listener.
import { quiet } from '../../live/counters.mjs'
import { Database, version } from '../../peers/resqlite.mjs'
import { firstValues } from './first-values.mjs'
import { sqliteSession } from './sqlite-session.mjs'

export { version }

export async function open(file, { synchronous }) {
  const db = await Database.open(file, { durability: synchronous.toLowerCase() })
  const errors = []
  return sqliteSession({
    run: (sql, params) => db.execute(sql, params),
    batch: (sql, sets) => db.executeBatch(sql, sets),
    all: ({ sql, params }) => db.select(sql, params),
    async live({ sql, params }, ...listeners) {
      const stream = db.stream(sql, params)
      const stops = []
      await firstValues(listeners, errors, (listen, fail) => stops.push(stream.subscribe(listen, fail)))
      return async () => {
        for (const stop of stops) stop()
      }
    },
    quiet: 15,
    settle: () => quiet(db),
    errors,
    close: () => db.close(),
  })
}
