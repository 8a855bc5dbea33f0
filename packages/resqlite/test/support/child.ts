import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const packageFolder = join(__dirname, '..', '..', '..')

/** Runs a script in a new process, in the folder of the package; returns what it printed. */
export function runChild(
  script: string,
  flags: string[] = [],
  type: 'module' | 'commonjs' = 'commonjs',
  env: NodeJS.ProcessEnv = {},
): string {
  const child = spawnSync(process.execPath, [...flags, `--input-type=${type}`, '-e', script], {
    cwd: packageFolder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (child.status !== 0) {
    throw new Error(`the child ended with ${child.status ?? child.signal}:\n${child.stdout}\n${child.stderr}`)
  }
  return child.stdout.trim()
}
