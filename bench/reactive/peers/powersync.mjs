// PowerSync as a local database only: no backend, no synced tables, its default of one writer and five readers. Each live
// query is one watched query, with one listener for each that listens.
import { openDatabase } from '../../peers/powersync.mjs'
import { firstValues } from './first-values.mjs'
import { sqliteSession } from './sqlite-session.mjs'

export { version } from '../../peers/powersync.mjs'

/** `watch(query, options, key)` → its watched query; `throttle` (ms): how long that waits for more changes. */
export const opener =
  (watch, throttle) =>
  async (file, { synchronous }) => {
    const db = await openDatabase(file, synchronous)
    const errors = []
    return sqliteSession({
      run: (sql, params) => db.execute(sql, params),
      batch: (sql, sets) => db.executeBatch(sql, sets),
      all: ({ sql, params }) => db.getAll(sql, params),
      async live({ sql, params, key }, ...listeners) {
        const options = { throttleMs: throttle, reportFetching: false }
        const watched = watch(db.query({ sql, parameters: params }), options, key)
        await firstValues(listeners, errors, (onData, onError) =>
          watched.registerListener({ onData, onError }),
        )
        return () => watched.close()
      },
      quiet: throttle + 20,
      errors,
      close: () => db.close(),
    })
  }
