import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { runMocha } from './lib/mocha.mjs'
import { installPackages, takeSource } from './lib/source.mjs'

const tag = '3.3.0'
const driver = '13.2.0'

/** What the tests import, besides what Knex does. */
const needed = [
  ...[
    'chai',
    'chai-as-promised',
    'chai-subset-in-order',
    'cli-testlab',
    'mocha',
    'rimraf',
    'sinon',
    'sinon-chai',
  ],
  'source-map-support',
]

const twoTransactions =
  'it opens a transaction inside another on a connection of its own: with SQLite that works only while neither has read or ' +
  'written, and a transaction of resqlite holds the write lock from its beginning'
const safeIntegers =
  'it expects wrong digits for integers beyond 2^53 (safeIntegers: false); resqlite gives them as bigint, see its option integers'

const explained = {
  ...forEach(
    'Integration Tests Connection configuration provider',
    [
      'is not used when configuration is static',
      'can return a promise for a config object, which is reused when not given given an expiry checker',
      'can return a config object, which is reused when not given given an expiry checker',
      'reuses the same resolved config when not yet expired',
    ],
    twoTransactions,
  ),
  ...forEach(
    'better-sqlite3 safeIntegers',
    ['true, query: false', 'false, query: false', 'false, query: undefined', 'undefined, query: false']
      .concat('undefined, query: undefined')
      .map((options) => `factory: ${options} -> expected: NUMBER`),
    safeIntegers,
  ),
}

function forEach(group, tests, why) {
  return Object.fromEntries(tests.map((test) => [`${group} ${test}`, why]))
}

/** Knex's integration tests, as they run for better-sqlite3. */
export async function suite() {
  const folder = takeSource({
    name: 'knex',
    url: 'https://github.com/knex/knex.git',
    tag,
    commit: 'e25d54bcb707714a17f5a5744eba5c4246bb4d1d',
    paths: ['lib', 'test', 'bin', 'knex.js', 'package.json'],
  })
  prepare(folder)
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
      { driver: `better-sqlite3 ${driver}`, ...run({}) },
      { driver: 'resqlite', ...run({ SUITE_ON_RESQLITE: '1' }) },
    ],
    explained,
    expected: { own: 431, ours: 422, both: 15 },
  }
}

function prepare(folder) {
  const { dependencies, devDependencies, ...manifest } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  if (devDependencies === undefined) return
  const versions = Object.fromEntries(needed.map((name) => [name, devDependencies[name]]))
  const all = { ...dependencies, ...versions, 'better-sqlite3': driver }
  installPackages(folder, { name: 'knex', version: manifest.version, main: manifest.main, dependencies: all })
}
