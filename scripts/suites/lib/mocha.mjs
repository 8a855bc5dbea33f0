import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailed } from '../../lib/process.mjs'

/** Runs mocha in a folder, and gives back how many tests passed, are pending, and which ones failed. */
export function runMocha({ folder, nodeOptions = [], args, env = {} }) {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const mocha = join(folder, 'node_modules', 'mocha', 'bin', 'mocha.js')
  const reporter = ['--reporter', 'json', '--reporter-option', `output=${report}`, '--exit']
  const { stdout, stderr } = spawnSync(process.execPath, [...nodeOptions, mocha, ...reporter, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  try {
    const { stats, failures } = JSON.parse(readFileSync(report, 'utf8'))
    return {
      passing: stats.passes,
      pending: stats.pending,
      failures: failures.map(({ fullTitle, err }) => ({ title: fullTitle, message: err.message ?? '' })),
    }
  } catch {
    throw new CommandFailed(`mocha wrote no report in ${folder}:\n${stdout}${stderr}`)
  }
}
