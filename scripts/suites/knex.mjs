import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { explainAll } from './lib/explain-all.mjs'
import { knexFolder, tag } from './lib/knex.mjs'
import { runMocha } from './lib/mocha.mjs'

const driverVersion = '13.2.0'

const twoTransactions =
  'it opens a transaction inside another on a connection of its own: with SQLite that works only while neither has read or ' +
  'written, and a transaction of resqlite holds the write lock from its beginning'
const safeIntegers =
  'it expects wrong digits for integers beyond 2^53 (safeIntegers: false); resqlite gives them as bigint, see its option integers'

const explained = {
  ...explainAll(
    [
      'is not used when configuration is static',
      'can return a promise for a config object, which is reused when not given given an expiry checker',
      'can return a config object, which is reused when not given given an expiry checker',
      'reuses the same resolved config when not yet expired',
    ].map((test) => `Integration Tests Connection configuration provider ${test}`),
    twoTransactions,
  ),
  ...explainAll(
    ['true, query: false', 'false, query: false', 'false, query: undefined', 'undefined, query: false']
      .concat('undefined, query: undefined')
      .map((options) => `better-sqlite3 safeIntegers factory: ${options} -> expected: NUMBER`),
    safeIntegers,
  ),
}

/** Knex's integration tests, as they run for better-sqlite3. */
export async function suite() {
  const folder = knexFolder('knex', { 'better-sqlite3': driverVersion })
  const run = (env) =>
    runMocha({
      folder,
      nodeOptions: ['--require', join(root, 'scripts', 'suites', 'knex', 'adapt.cjs')],
      args: ['--timeout', '10000', '--config', 'test/mocha-integration-config-test.js'],
      env: { DB: 'better-sqlite3', ...env },
    })
  return {
    title: `Knex ${tag}, integration tests`,
    runs: [
      { driver: `better-sqlite3 ${driverVersion}`, ...run({}) },
      { driver: 'resqlite', ...run({ SUITE_ON_RESQLITE: '1' }) },
    ],
    explained,
    expected: { own: 431, ours: 422, both: 15 },
  }
}
