// The library of this repository: one stream per live query, `subscribe` for each listener. With `?package=…`, as
// ../../peers/resqlite.mjs has it, the module has that build.
import { quiet } from '../../live/counters.mjs'
import { firstValues } from './first-values.mjs'
import { sqliteSession } from './sqlite-session.mjs'

const library = new URL('../../peers/resqlite.mjs', import.meta.url)
library.search = new URL(import.meta.url).search
const { Database, version } = await import(library)

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
