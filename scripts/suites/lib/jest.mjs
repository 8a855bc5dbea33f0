import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CommandFailed } from '../../lib/process.mjs'
import { counts } from './counts.mjs'

/**
 * Runs tests with jest. Of those with `part` in their names, gives back how many passed, how many are pending, and which ones
 * failed.
 */
export function runJest({ folder, config, part, env = {} }) {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const jest = join(folder, 'node_modules', 'jest', 'bin', 'jest.js')
  const args = ['--config', config, '--ci', '--silent', '--json', '--outputFile', report, '--forceExit']
  const { stderr } = spawnSync(process.execPath, [jest, ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'))
    return counts({ testResults: testResults.map((file) => partOf(file, part)) })
  } catch {
    throw new CommandFailed(`jest wrote no report in ${folder}:\n${stderr}`)
  }
}

function partOf(file, part) {
  return {
    ...file,
    assertionResults: file.assertionResults.filter(({ fullName }) => fullName.includes(part)),
  }
}
