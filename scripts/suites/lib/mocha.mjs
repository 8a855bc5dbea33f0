import { join } from 'node:path'
import { root } from '../../lib/paths.mjs'
import { reportOf } from './report.mjs'

/** Runs mocha in a folder, and gives back how many tests passed, are pending, and which ones failed. */
export function runMocha({ folder, nodeOptions, args, env }) {
  const reporter = join(root, 'scripts', 'suites', 'lib', 'mocha-report.cjs')
  return reportOf({
    folder,
    nodeOptions,
    program: 'mocha/bin/mocha.js',
    args: (report) => ['--reporter', reporter, '--reporter-option', `file=${report}`, '--exit', ...args],
    env,
  })
}
