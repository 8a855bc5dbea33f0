// The libraries that are compared. Each module exports `open(file, { synchronous })` → session and `version`.
//
// A session is the thinnest possible cover over the library, used as its documentation recommends:
//   sync               true when its calls block and return values, false when they return promises
//   prepare(sql)       → { all(params), get(params), run(params) }; params is always an array
//   exec(sql)          statements without parameters
//   pragma(name)       its value on the connection that writes
//   jsonBytes(sql)     optional → function returning a Uint8Array with the rows as a JSON array
//   batch(sql)         optional → function that runs one statement for many parameter sets, all or nothing
//   statements(list)   optional → runs { sql, params } after { sql, params } as one call, all or nothing
//   transaction(body)  optional → what body(tx) returned; rolled back and thrown on when it fails. The body of a blocking
//                      session is synchronous (workloads/steps.mjs writes bodies for both). Missing abilities are absent:
//                      tx = { run(sql, params), get(sql, params), all(sql, params), batch?(sql, sets), transaction?(body) }
//   each(sql, onRow)   optional: visits all rows without holding them all
//   close()
// What is missing is shown as "–".

const modules = {
  resqlite: './resqlite.mjs',
  'better-sqlite3': './better-sqlite3.mjs',
  'node:sqlite': './node-sqlite.mjs',
  'better-sqlite3 in a worker': './worker.mjs',
  'libsql (promise)': './libsql.mjs',
  turso: './turso.mjs',
  '@powersync/node': './powersync.mjs',
  sqlite3: './sqlite3.mjs',
}

export const peerNames = Object.keys(modules)

/** What everything is compared with. */
export const reference = 'better-sqlite3'

/** The module of a peer. Throws with advice when it is not installed. */
export const loadPeer = (name) => import(modules[name])

/** Opens a session and makes sure that it is as durable as it was asked to be. `synchronous`: 'NORMAL' or 'FULL'. */
export async function openPeer(peer, file, synchronous) {
  const session = await peer.open(file, { synchronous })
  const journal = await session.pragma('journal_mode')
  const level = await session.pragma('synchronous')
  if (journal !== 'wal' || Number(level) !== { NORMAL: 1, FULL: 2 }[synchronous]) {
    await session.close()
    throw new Error(
      `journal_mode is ${journal} and synchronous ${level}; wal and ${synchronous} were asked for`,
    )
  }
  return session
}
