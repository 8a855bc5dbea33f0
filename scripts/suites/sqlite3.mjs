import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages, takeSource } from './lib/source.mjs'
import { driverVersion, runOnBoth } from './lib/sqlite3.mjs'

const memory = 'databases in memory are private to each Database'
const unfinalized = 'close does not refuse because of statements that are not finalized'
const listeners = 'it writes into _events after removing its listeners, and expects that nothing is told'
const key = 'change tells the primary key of a row, where a table has one'

const explained = {
  'async_hooks should support performance measuring with async hooks':
    'callbacks run in the asynchronous context of the call, but not with the id of the resource that native code makes',
  'error handling throw when calling Database() without new': 'the message is that of JavaScript',
  'limit should support applying limits via configure': 'limits cannot be set one by one',
  'open/close open and close shared memory database second database should get the user_version': memory,
  'open/close closing with unfinalized statements should fail to close the database': unfinalized,
  'open/close closing with unfinalized statements should succeed to close the database after finalizing':
    unfinalized,
  'patching Backup "before all" hook for "allow patching native functions"': 'there is no Backup',
  'scheduling running a query after the database was closed': unfinalized,
  'tracing test disabling tracing #1': listeners,
  'tracing test disabling tracing #2': listeners,
  'update_hook emits update event on row modification in table': key,
  'update_hook emits delete event on row was deleted from table': key,
  'verbose Shoud not add trace info to error when verbose is not called':
    'it undoes verbose by the enumerable methods of the prototypes; those of classes are not',
}

/** node-sqlite3's own tests, without those of backups, which @resqlite/sqlite3 does not make. */
export async function suite() {
  const folder = takeSource({
    name: 'node-sqlite3',
    url: 'https://github.com/TryGhost/node-sqlite3.git',
    tag: `v${driverVersion}`,
    paths: ['test'],
  })
  prepare(folder)
  const args = ['--timeout', '20000', '--ignore', 'test/backup.test.js']
  return {
    title: `node-sqlite3 ${driverVersion}, without backups`,
    runs: runOnBoth({ folder, args, before: join('test', 'support', 'createdb.js') }),
    explained,
    expected: { own: 157, ours: 144 },
  }
}

/** The tests ask for the package of their folder, which is the driver, and for a database that is made before. */
function prepare(folder) {
  const script = join(folder, 'test', 'support', 'createdb.js')
  const source = readFileSync(script, 'utf8')
  writeFileSync(script, source.replace('count = 1000000', 'count = 100000'))
  mkdirSync(join(folder, 'lib'), { recursive: true })
  for (const file of ['index.js', join('lib', 'sqlite3.js')]) {
    writeFileSync(join(folder, file), "module.exports = require('sqlite3')\n")
  }
  const dependencies = { mocha: '10.8.2', sqlite3: driverVersion }
  installPackages(folder, { name: 'node-sqlite3-suite', dependencies })
}
