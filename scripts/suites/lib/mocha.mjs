import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../lib/paths.mjs'
import { CommandFailed } from '../../lib/process.mjs'

/** Runs mocha in a folder, and gives back how many tests passed, are pending, and which ones failed. */
export function runMocha({ folder, nodeOptions = [], args, env = {} }) {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const mocha = join(folder, 'node_modules', 'mocha', 'bin', 'mocha.js')
  const reporter = ['--reporter', join(root, 'scripts', 'suites', 'lib', 'mocha-report.cjs'), '--exit']
  const { stdout, stderr } = spawnSync(process.execPath, [...nodeOptions, mocha, ...reporter, ...args], {
    cwd: folder,
    env: { ...process.env, ...env, SUITE_REPORT: report },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    throw new CommandFailed(`mocha wrote no report in ${folder}:\n${stdout}${stderr}`)
  }
}
