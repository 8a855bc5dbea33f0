import { knexFolder, tag } from './lib/knex.mjs'
import { driverVersion, runOnBoth } from './lib/sqlite3.mjs'

/** Knex's integration tests, as they run for sqlite3. */
export async function suite() {
  const folder = knexFolder('knex-sqlite3', { sqlite3: driverVersion, 'better-sqlite3': '13.2.0' })
  const args = ['--timeout', '10000', '--config', 'test/mocha-integration-config-test.js']
  return {
    title: `Knex ${tag}, integration tests for sqlite3`,
    runs: runOnBoth({ folder, args, env: { DB: 'sqlite3' } }),
    explained: {},
    expected: { own: 461, ours: 461 },
  }
}
