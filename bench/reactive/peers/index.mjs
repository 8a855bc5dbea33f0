// The reactive peers. Each module exports `open(file, { synchronous })` → session and `version`.
//
// A session covers one library as its documentation recommends. Tables, writes and queries are data (../sql.mjs), from
// which a peer with SQL makes SQL, and one without it whatever it has instead:
//   create(table, rows)        makes the table with its indexes and fills it; rows are lists of values in the order of the columns
//   prepare(write)             → { run(params), batch(sets) }; each promise resolves when the write is committed
//                              write = { kind, table, columns }; `params` of the kinds:
//                                insert, replace   the values of all columns   (only these two have `batch`: all or nothing)
//                                update            the values of `columns`, then the key
//                                increment         how much is added to each of `columns`, then the key
//                                trim              a key: rows with greater ones are deleted
//   all(query)                 → promise of the rows now
//   live(query, ...listeners)  → promise of stop(), resolved when each listener has had its first value. All of them listen to
//                              one live query in the way that the library has for that. stop() returns a promise
//   quiet                      how long (ms) to wait after the last sign of work until there can be no more
//   settle()                   optional: resolves when nothing is under way on other threads
//   errors                     what live queries failed with
//   close()                    ends everything; what it leaves in the folder of `file` goes with that folder
// query = { sql, params, key, tanstack, rows }: `?` for parameters; `key` is the column that tells its rows apart; `tanstack` builds
// the same for the query builder of TanStack DB: (q, { table: collection }, operators, params) → q; `rows(model)` is what it
// must give (../model.mjs).

const modules = {
  resqlite: './resqlite.mjs',
  'PGlite live.query': './pglite-query.mjs',
  'PGlite live.incrementalQuery': './pglite-incremental.mjs',
  'PowerSync watch (0 ms)': './powersync-watch.mjs',
  'PowerSync watch (30 ms)': './powersync-watch-30.mjs',
  'PowerSync differentialWatch (0 ms)': './powersync-differential.mjs',
  'TanStack DB (in memory)': './tanstack.mjs',
}

export const reactivePeerNames = Object.keys(modules)

/** The module of a peer. Throws with advice when it is not installed. */
export const loadReactivePeer = (name) => import(modules[name])
