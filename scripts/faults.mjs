// Tests the tests: puts each mistake of scripts/faults (a patch) into a copy of the sources, one at a time, and runs the
// suites that should find it until one fails. With every mistake one must fail; without any, all must pass.
//
//   node scripts/faults.mjs                      all of them, which takes hours
//   node scripts/faults.mjs moved_key no_retry   these
//   node scripts/faults.mjs --tonight 12         12 of them, others every day
//   node scripts/faults.mjs --check              only that each can be put into the sources as they are

import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './lib/paths.mjs'
import { CommandFailed, capture, runAsProgram } from './lib/process.mjs'
import { day } from './lib/random.mjs'

const patches = join(root, 'scripts', 'faults')
const folder = join(root, 'target', 'faults')
const copy = join(folder, 'sources')

/**
 * The suites that look for mistakes in a crate, those first that find most. `runs`: of all of them, one after the other until a
 * suite fails. A suite that takes more than `patience` seconds hangs, and has found the mistake; without one it takes a fraction.
 */
const engine = {
  packages: ['resqlite', 'resqlite-live'],
  tests: ['engine', 'live', 'faults', 'power_loss'],
  order: ['live', 'engine', 'resqlite', 'faults', 'power_loss', 'resqlite_live'],
  runs: [
    { throws: {}, patience: 600 },
    { throws: { RESQLITE_DICE: 'all' }, patience: 7200 },
  ],
}
/** Some mistakes of the protocol are met once in hundreds of runs. */
const cluster = {
  packages: ['resqlite-cluster'],
  tests: [],
  order: ['resqlite_cluster'],
  runs: [{ throws: { RESQLITE_THROWS: '2000' }, patience: 600 }],
}

const environment = {
  CARGO_TARGET_DIR: join(folder, 'build'),
  RUST_BACKTRACE: '0',
  RESQLITE_LIVE_NO_SHRINK: '1',
  PROPTEST_DISABLE_FAILURE_PERSISTENCE: '1',
}

await runAsProgram(import.meta.url, () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { tonight: { type: 'string' }, check: { type: 'boolean' } },
  })
  if (values.check) return checkFaults()
  const chosen = positionals.length > 0 ? positionals : inTurn(Number(values.tonight ?? names().length))
  if (chosen.length === 0) throw new CommandFailed('no fault was chosen')
  copySources()
  for (const suites of new Set(chosen.map(suitesFor))) {
    const found = firstThatFails(suites, suites.runs[0])
    if (found) throw new CommandFailed(`${found.output}\nThe suite ${found.suite} fails without a fault.`)
  }
  const survived = chosen.filter((name) => !isFound(name))
  if (survived.length > 0) throw new CommandFailed(`no suite finds: ${survived.join(', ')}`)
})

function names() {
  return readdirSync(patches).map((file) => file.replace('.patch', ''))
}

/** So many in a row, beginning where those of yesterday ended. */
function inTurn(count) {
  const all = names()
  const first = (day() * count) % all.length
  return [...all, ...all].slice(first, first + Math.min(count, all.length))
}

/** Throws for the first fault that cannot be put into the sources any more. */
export function checkFaults() {
  for (const name of names()) capture('git', ['apply', '--check', patchOf(name)])
}

function patchOf(name) {
  return join(patches, `${name}.patch`)
}

function suitesFor(name) {
  return readFileSync(patchOf(name), 'utf8').includes('crates/resqlite-cluster/') ? cluster : engine
}

/** With the times of the files, so that only what a fault changes is compiled again. */
function copySources() {
  rmSync(copy, { recursive: true, force: true })
  for (const part of ['Cargo.toml', 'Cargo.lock', 'crates', 'packages/resqlite/package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true, preserveTimestamps: true })
}

function isFound(name) {
  const apply = (...how) =>
    capture('git', ['apply', ...how, `--directory=${relative(root, copy)}`, patchOf(name)])
  apply()
  try {
    const suites = suitesFor(name)
    let found
    for (const run of suites.runs) found ??= firstThatFails(suites, run)
    console.log(`${name.padEnd(28)} ${found ? `${found.suite}: ${found.tests}` : 'SURVIVED'}`)
    return found !== undefined
  } finally {
    apply('--reverse')
  }
}

/** The first suite that fails, with the modules of its failed tests. */
function firstThatFails({ packages, tests, order }, { throws, patience }) {
  const programs = build(packages, tests)
  for (const suite of order) {
    const { executable, manifest_path } = programs.get(suite)
    const { status, stdout, stderr, signal, error } = spawnSync(executable, [], {
      cwd: dirname(manifest_path),
      env: { ...process.env, ...environment, ...throws },
      timeout: patience * 1000,
      maxBuffer: 1 << 30,
      encoding: 'utf8',
    })
    if (status === 0) continue
    if (stdout === null) throw new CommandFailed(`${suite} could not be started: ${error.message}`)
    const failed = [...stdout.matchAll(/^test (.*?)(?:::.*)? \.\.\. FAILED$/gm)].map(([, module]) => module)
    return { suite, tests: [...new Set(failed)].join(' ') || `${signal ?? status}`, output: stdout + stderr }
  }
}

/** Compiles the suites → the message of cargo about the program of each. */
function build(packages, tests) {
  const chosen = [...packages.flatMap((name) => ['-p', name]), ...tests.flatMap((name) => ['--test', name])]
  const command = ['test', ...chosen, '--lib', '--no-run', '--locked', '--message-format', 'json']
  const messages = capture('cargo', command, { cwd: copy, env: environment })
  const programs = messages
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ executable }) => executable)
  return new Map(programs.map((program) => [program.target.name.replaceAll('-', '_'), program]))
}
