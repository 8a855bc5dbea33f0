import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { needNode22 } from './lib/node.mjs'
import { installPackages, installResqlite, takeSource } from './lib/source.mjs'
import { runVitest } from './lib/vitest.mjs'

const version = '0.2.15'

const dependencies = {
  '@standard-schema/spec': '1.1.0',
  '@tanstack/pacer-lite': '0.2.2',
  'better-sqlite3': '13.2.0',
  'fractional-indexing': '3.2.0',
  jsdom: '27.4.0',
  'sorted-btree': '1.8.1',
  vitest: '3.2.4',
}

/** TanStack DB's contracts of drivers, adapters and collections for its SQLite persistence, as its driver for Node.js passes them. */
export async function suite() {
  needNode22('better-sqlite3')
  const packages = [
    'db',
    'db-ivm',
    'db-sqlite-persistence-core',
    'db-collection-e2e',
    'node-db-sqlite-persistence',
  ]
  const folder = takeSource({
    name: 'tanstack-db',
    url: 'https://github.com/TanStack/db.git',
    tag: `@tanstack/node-db-sqlite-persistence@${version}`,
    paths: ['tsconfig.json', ...packages.map((name) => `packages/${name}`)],
  })
  installPackages(folder, { name: 'tanstack-db-suite', type: 'module', dependencies })
  installResqlite(folder)
  cpSync(join(root, 'scripts', 'suites', 'tanstack-db'), join(folder, 'adapt'), { recursive: true })
  const run = (env) =>
    runVitest({
      folder,
      cwd: join(folder, 'packages', 'node-db-sqlite-persistence'),
      config: join(folder, 'adapt', 'vitest.config.mjs'),
      files: [],
      env,
    })
  return {
    title: `TanStack DB's SQLite persistence ${version}, its contracts for Node.js`,
    runs: [
      { driver: `better-sqlite3 ${dependencies['better-sqlite3']}`, ...run({}) },
      { driver: 'resqlite', ...run({ SUITE_ON_RESQLITE: '1' }) },
    ],
    explained: {},
    expected: { own: 151, ours: 151 },
  }
}
