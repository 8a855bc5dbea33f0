import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../lib/paths.mjs'
import { capture, npm } from '../../lib/process.mjs'
import { runMocha } from './mocha.mjs'

/** The version of sqlite3 on which suites run first. */
export const driverVersion = '6.0.1'

/**
 * Runs tests with mocha on sqlite3, and on @resqlite/sqlite3 in its place. `before`: what is run on sqlite3 before that, if it is
 * given.
 */
export function runOnBoth({ folder, args, env, before }) {
  // sqlite3 is compiled, unless its binary can be fetched.
  if (!existsSync(join(folder, 'node_modules', 'sqlite3', 'build', 'Release', 'node_sqlite3.node'))) {
    npm(['rebuild', 'sqlite3', '--ignore-scripts=false'], { cwd: folder })
  }
  if (before !== undefined) capture(process.execPath, [before], { cwd: folder })
  const nodeOptions = ['--require', join(root, 'scripts', 'suites', 'lib', 'sqlite3.cjs')]
  const run = (more) => runMocha({ folder, nodeOptions, args, env: { ...env, ...more } })
  return [
    { driver: `sqlite3 ${driverVersion}`, ...run({}) },
    { driver: '@resqlite/sqlite3', ...run({ SUITE_ON_RESQLITE: '1' }) },
  ]
}
