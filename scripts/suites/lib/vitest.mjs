import { counts } from './counts.mjs'
import { reportOf } from './report.mjs'

/** Runs files of tests with vitest, and gives back how many tests passed, are pending, and which ones failed. */
export function runVitest({ folder, cwd, config, files, env }) {
  const report = reportOf({
    folder,
    cwd,
    program: 'vitest/vitest.mjs',
    args: (report) => [
      ...['run', '--config', config, '--root', cwd],
      ...['--reporter', 'json', '--outputFile', report, ...files],
    ],
    env,
  })
  return counts(report)
}
