// Loaded before the tests of a library that stands on sqlite3: with SUITE_ON_RESQLITE, that is ours. The drivers of other
// databases are empty modules.

const Module = require('node:module')

const absent = new Set(['mysql', 'mysql2', 'oracledb', 'pg', 'tedious'])
const onResqlite = process.env.SUITE_ON_RESQLITE !== undefined

const load = Module._load

Module._load = function (request, parent, isMain) {
  if (absent.has(request)) return {}
  if (onResqlite && request === 'sqlite3') return require('../../../packages/sqlite3/dist/index.js')
  return load.call(this, request, parent, isMain)
}
