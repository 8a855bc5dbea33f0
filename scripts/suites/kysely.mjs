import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../lib/paths.mjs'
import { runTool } from '../lib/process.mjs'
import { runMocha } from './lib/mocha.mjs'
import { needNode22 } from './lib/node.mjs'
import { installPackages, manifestOf, takeSource } from './lib/source.mjs'

const tag = 'v0.29.5'

/** The packages that the tests import, besides Kysely itself. */
const needed = [
  ...['@electric-sql/pglite', 'better-sqlite3', 'mysql2', 'pg', 'pg-cursor', 'tarn', 'tedious'],
  ...['@types/mocha', '@types/node', 'chai', 'chai-as-promised', 'mocha', 'pathe', 'sinon', 'std-env', 'tsx'],
  'prototype-pollution-vulnerable-lodash.merge-dont-upgrade',
]

const explained = {
  'sqlite: migration migrateUp should refuse to run migrations using a provided transaction due to lack of support for transactional DDL':
    'it expects that SQLite cannot run migrations in a transaction; with this dialect they do, and the transaction is the lock',
}

/** Kysely's tests of dialects (test/node), for SQLite. */
export async function suite() {
  needNode22('Kysely')
  const folder = takeSource({
    name: 'kysely',
    url: 'https://github.com/kysely-org/kysely.git',
    tag,
    paths: ['src', 'test/node', 'package.json', 'tsconfig.json', 'tsconfig-base.json', '.mocharc.cjs'],
  })
  const { versions } = prepare(folder)
  const args = ['--timeout', '15000', 'test/node/dist/**/*.test.js']
  const env = { DIALECTS: 'sqlite' }
  const adapt = pathToFileURL(join(root, 'scripts', 'suites', 'kysely', 'adapt.mjs')).href
  return {
    title: `Kysely ${tag}, test/node`,
    runs: [
      { driver: `better-sqlite3 ${versions['better-sqlite3']}`, ...runMocha({ folder, args, env }) },
      { driver: 'resqlite', ...runMocha({ folder, args, env, nodeOptions: ['--import', adapt] }) },
    ],
    explained,
    expected: { own: 487, ours: 486 },
  }
}

function prepare(folder) {
  const { devDependencies } = manifestOf(folder)
  const versions = Object.fromEntries(needed.map((name) => [name, devDependencies[name]]))
  installPackages(folder, { name: 'kysely', type: 'module', dependencies: versions })
  if (!existsSync(join(folder, 'test', 'node', 'dist'))) {
    for (const project of ['.', join('test', 'node')])
      runTool('typescript', 'tsc', ['-p', join(folder, project), '--noCheck', '--declaration', 'false'])
  }
  return { versions }
}
