import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailed } from '../../lib/process.mjs'

/**
 * Runs a program of a package that is installed in a folder, such as `mocha/bin/mocha.js`, and gives back the report that it
 * writes as JSON. Without a report, throws a CommandFailed with what was printed.
 *
 * @param {{ folder: string, cwd?: string, nodeOptions?: string[], program: string, args: (report: string) => string[],
 *   env?: Record<string, string> }} options `args` gets the file that the program has to write
 */
export function reportOf({ folder, cwd = folder, nodeOptions = [], program, args, env = {} }) {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const command = [...nodeOptions, join(folder, 'node_modules', program), ...args(report)]
  const { stdout, stderr } = spawnSync(process.execPath, command, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  try {
    return JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    throw new CommandFailed(`${program} wrote no report in ${folder}:\n${stdout}${stderr}`)
  }
}
