// Loaded before Knex's tests. The drivers of other databases are empty modules; with SUITE_ON_RESQLITE, Knex's client for
// better-sqlite3 is our client.

const Module = require('node:module')
const { join } = require('node:path')

const suite = process.cwd()
const absent = new Set(['mysql', 'mysql2', 'oracledb', 'pg', 'sqlite3', 'tedious'])
const replaced = join(suite, 'lib', 'dialects', 'better-sqlite3', 'index.js')
const onResqlite = process.env.SUITE_ON_RESQLITE !== undefined

const load = Module._load
let client

Module._load = function (request, parent, isMain) {
  if (absent.has(request)) return {}
  // The client must extend the Knex that is tested.
  if (request.startsWith('knex/'))
    return load.call(this, join(suite, request.slice('knex/'.length)), parent, isMain)
  if (onResqlite && /better-sqlite3(\/index\.js)?$/.test(request) && request !== 'better-sqlite3') {
    if (Module._resolveFilename(request, parent, isMain) === replaced) {
      client ??= adaptedClient()
      return client
    }
  }
  return load.call(this, request, parent, isMain)
}

function adaptedClient() {
  const { ResqliteClient } = require('../../../packages/resqlite/dist/builders/knex/index.js')
  class AdaptedClient extends ResqliteClient {
    /** The tests' pools switch foreign keys on or off, as better-sqlite3 would have it. */
    async acquireRawConnection() {
      // A test opens two transactions and ends neither before the other: without a timeout it would stop those after it.
      this.connectionSettings.transactionTimeout = 3000
      const place = await super.acquireRawConnection()
      const prepare = (sql) => ({
        run() {
          place.pool.foreignKeys = !/foreign_keys\s*=\s*(?:off|0|false)/i.test(sql)
        },
      })
      return Object.assign(place, { prepare })
    }
  }
  Object.assign(AdaptedClient.prototype, { driverName: 'better-sqlite3' }) // tests look up what they expect by it
  return AdaptedClient
}
