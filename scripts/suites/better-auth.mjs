import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../lib/paths.mjs'
import { installPackages, installResqlite } from './lib/source.mjs'
import { runVitest } from './lib/vitest.mjs'

const version = '1.7.5'

const dependencies = {
  '@better-auth/core': version,
  '@better-auth/kysely-adapter': version,
  '@better-auth/test-utils': version,
  'better-auth': version,
  kysely: '0.28.19',
  vitest: '4.0.18',
}

/** The tests that better-auth publishes for adapters, of its own for Kysely. */
export async function suite() {
  const folder = join(root, 'target', 'suites', `better-auth-${version}`)
  mkdirSync(folder, { recursive: true })
  installPackages(folder, { name: 'better-auth-suite', type: 'module', dependencies })
  installResqlite(folder)
  const test = 'adapter.test.mjs'
  copyFileSync(join(root, 'scripts', 'suites', 'better-auth', test), join(folder, test))
  const config = join(folder, 'vitest.config.mjs')
  writeFileSync(config, 'export default {}')
  const run = (env) => runVitest({ folder, cwd: folder, config, files: [test], env })
  return {
    title: `better-auth ${version}, tests for adapters`,
    runs: [
      { driver: 'node:sqlite', ...run({}) },
      { driver: 'resqlite/kysely', ...run({ SUITE_ON_RESQLITE: '1' }) },
    ],
    explained: {},
    expected: { own: 442, ours: 442 },
  }
}
