// node scripts/try-runtimes.mjs [name…]
//
// Runs a small program with the built package under other JavaScript runtimes, which are installed from npm into a
// temporary folder, and prints a table. Not a part of npm test: it downloads some hundred megabytes.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFolder } from './lib/paths.mjs'

const windows = process.platform === 'win32'
const executable = (name) => (windows ? `${name}.exe` : name)

/** npm package, command inside it, arguments before the program. */
const runtimes = {
  'node 22': ['node@22', join('node', 'bin', executable('node')), []],
  'node 24': ['node@24', join('node', 'bin', executable('node')), []],
  'node latest': ['node@latest', join('node', 'bin', executable('node')), []],
  bun: ['bun@latest', join('bun', 'bin', 'bun.exe'), ['run']],
  deno: ['deno@latest', join('deno', executable('deno')), ['run', '--allow-all']],
}

/** Where the program stops, if it does; a runtime that hangs is ended. */
const LIMIT = 60_000

const program = join(dirname(fileURLToPath(import.meta.url)), 'lib', 'smoke.cjs')
const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !(name in runtimes))
if (unknown.length > 0) throw new Error(`unknown: ${unknown}; known are ${Object.keys(runtimes).join(', ')}`)

const folder = mkdtempSync(join(tmpdir(), 'resqlite-runtimes-'))
try {
  const names = chosen.length > 0 ? chosen : Object.keys(runtimes)
  const results = names.map((name) => ({ name, ...tryRuntime(name) }))
  console.table(Object.fromEntries(results.map(({ name, version, result }) => [name, { version, result }])))
  for (const { name, errors } of results) if (errors) console.log(`${name}:\n${errors}\n`)
  process.exitCode = results.every(({ result }) => result === 'ok') ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

function tryRuntime(name) {
  const [packageName, command, flags] = runtimes[name]
  const home = join(folder, name.replace(' ', '-'))
  mkdirSync(home)
  const npm = windows ? 'npm.cmd' : 'npm'
  const install = ['install', '--no-audit', '--no-fund', '--prefix', home, packageName]
  const installed = spawnSync(npm, install, { encoding: 'utf8', shell: windows })
  const path = join(home, 'node_modules', command)
  if (installed.status !== 0 || !existsSync(path)) {
    return { version: '', result: 'not installed', errors: installed.stderr }
  }
  const run = spawnSync(path, [...flags, program, packageFolder], { encoding: 'utf8', timeout: LIMIT })
  const lines = run.stdout.trim().split('\n')
  const version = lines.find((line) => line.startsWith('runtime '))?.slice(8) ?? ''
  const done = lines.filter((line) => line.startsWith('ok ')).map((line) => line.slice(3))
  const fine = run.status === 0 && lines.at(-1) === 'end'
  const ending = run.error?.code === 'ETIMEDOUT' ? 'hangs' : `ends with ${run.signal ?? run.status}`
  return {
    version,
    result: fine ? 'ok' : `${ending} after: ${done.at(-1) ?? 'nothing'}`,
    errors: fine ? undefined : `${run.stdout}${run.stderr}`.trim(),
  }
}
