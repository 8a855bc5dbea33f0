import { counts } from './counts.mjs'
import { reportOf } from './report.mjs'

/**
 * Runs tests with jest. Of those with `part` in their names, gives back how many passed, how many are pending, and which ones
 * failed.
 */
export function runJest({ folder, config, part, env }) {
  const { testResults } = reportOf({
    folder,
    program: 'jest/bin/jest.js',
    args: (report) => [
      ...['--config', config, '--ci', '--silent', '--forceExit'],
      ...['--json', '--outputFile', report],
    ],
    env,
  })
  return counts({ testResults: testResults.map((file) => partOf(file, part)) })
}

function partOf(file, part) {
  return {
    ...file,
    assertionResults: file.assertionResults.filter(({ fullName }) => fullName.includes(part)),
  }
}
