import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailed } from '../../lib/process.mjs'
import { counts } from './counts.mjs'

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
