import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailed } from '../../lib/process.mjs'

/** Runs files of tests with vitest, and gives back how many tests passed, are pending, and which ones failed. */
export function runVitest({ folder, cwd, config, files, env = {} }) {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [
    'run',
    '--config',
    config,
    '--root',
    cwd,
    '--reporter',
    'json',
    '--outputFile',
    report,
    ...files,
  ]
  const { stdout, stderr } = spawnSync(process.execPath, [vitest, ...args], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  try {
    return counts(JSON.parse(readFileSync(report, 'utf8')))
  } catch {
    throw new CommandFailed(`vitest wrote no report in ${folder}:\n${stdout}${stderr}`)
  }
}

/** Counts the results in a report of vitest, whose form is that of jest. */
export function counts({ testResults }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = tests.filter(({ status }) => status === 'failed')
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  )
  return {
    passing: tests.filter(({ status }) => status === 'passed').length,
    pending: tests.filter(({ status }) => !['passed', 'failed'].includes(status)).length,
    failures: [
      ...failed.map(({ fullName, failureMessages }) => ({
        title: fullName,
        message: failureMessages.join('\n'),
      })),
      ...broken.map(({ name, message }) => ({ title: name, message })),
    ],
  }
}
