// Tests the tests: puts each mistake of scripts/faults (a patch) into a copy of the sources, one at a time, and runs the
// suites that should find it until one fails. With every mistake one must fail; without any, all must pass.
//
//   node scripts/faults.mjs                      all of them, which takes hours
//   node scripts/faults.mjs moved_key no_retry   these
//   node scripts/faults.mjs --tonight 12         12 of them, others every day
//   node scripts/faults.mjs --check              only that each can be put into the sources as they are

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { root } from './lib/paths.mjs'
import { CommandFailed, capture, runAsProgram } from './lib/process.mjs'
import { day } from './lib/random.mjs'

const patches = join(root, 'scripts', 'faults')
const folder = join(root, 'target', 'faults')
const copy = join(folder, 'sources')

/**
 * The suites that look for mistakes in a crate, those first that find most: package and integration test, or the unit tests.
 * `runs`: of all of them, one after the other until a suite fails. A suite that takes more than `patience` seconds hangs, and
 * has found the mistake; without one it takes a fraction.
 */
const engine = {
  suites: [
    'resqlite live',
    'resqlite engine',
    'resqlite',
    'resqlite simulation',
    'resqlite faults',
    'resqlite power_loss',
    'resqlite-live',
  ],
  runs: [
    { throws: {}, patience: 600 },
    { throws: { RESQLITE_DICE: 'all' }, patience: 7200 },
  ],
}
/** Some mistakes of the protocol are met once in hundreds of runs. */
const cluster = {
  suites: ['resqlite-cluster'],
  runs: [{ throws: { RESQLITE_THROWS: '2000' }, patience: 600 }],
}

const environment = {
  CARGO_TARGET_DIR: join(folder, 'build'),
  RUST_BACKTRACE: '0',
  // A mistake often leaves something unused.
  RUSTFLAGS: '-A warnings',
  RESQLITE_LIVE_NO_SHRINK: '1',
  PROPTEST_DISABLE_FAILURE_PERSISTENCE: '1',
}

await runAsProgram(import.meta.url, async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { tonight: { type: 'string' }, check: { type: 'boolean' } },
  })
  if (values.check) return checkFaults()
  const chosen = positionals.length > 0 ? positionals : inTurn(Number(values.tonight ?? names().length))
  const known = names()
  const unknown = chosen.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new CommandFailed(`no fault has the name ${unknown.join(', ')}`)
  if (chosen.length === 0) throw new CommandFailed('no fault was chosen')
  copySources()
  for (const suites of new Set(chosen.map(suitesFor))) {
    const found = await firstThatFails(suites, suites.runs[0])
    if (found) throw new CommandFailed(`fails without a fault: ${found.suite}: ${found.test}`)
  }
  console.log('without a fault, all suites pass')
  const survived = []
  for (const name of chosen) if (!(await isFound(name))) survived.push(name)
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

/**
 * Touches only what is another now, so that cargo compiles no more than that; and all of that, as the build may be of a fault.
 */
function copySources() {
  const parts = ['Cargo.toml', 'Cargo.lock', 'crates', 'packages/resqlite/package.json']
  const differs = (from, to) =>
    statSync(from).isDirectory() || !existsSync(to) || !readFileSync(from).equals(readFileSync(to))
  for (const part of parts) cpSync(join(root, part), join(copy, part), { recursive: true, filter: differs })
  for (const file of readdirSync(copy, { recursive: true }))
    if (!existsSync(join(root, file))) rmSync(join(copy, file), { recursive: true, force: true })
}

async function isFound(name) {
  const suites = suitesFor(name)
  const tell = (outcome) => console.log(`${name.padEnd(28)} ${outcome}`)
  let found
  try {
    for (const run of suites.runs) found ??= await find(name, suites, run)
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    tell(`DOES NOT COMPILE: ${error.message}`)
    return false
  }
  tell(found ? `${found.suite}: ${found.test}` : 'SURVIVED')
  return found !== undefined
}

/** The first failure with this fault, unless it is one without the fault, too. */
async function find(name, suites, run) {
  const apply = (...how) =>
    capture('git', ['apply', ...how, `--directory=${relative(root, copy)}`, patchOf(name)])
  apply()
  const found = await firstThatFails(suites, run).finally(() => apply('--reverse'))
  // The first run passed without a fault.
  if (!found || run === suites.runs[0]) return found
  const again = await firstFailure(found.suite, run, [found.test, '--exact'])
  if (!again) return found
  console.log(`${found.suite}: ${found.test} fails without a fault, too`)
}

/** The first suite that fails, with its first test that does. */
async function firstThatFails({ suites }, run) {
  for (const suite of suites) {
    const test = await firstFailure(suite, run)
    if (test) return { suite, test }
  }
}

/** Runs the tests of a suite, or those that `chosen` names, until one fails → its name, or how the suite ended. */
async function firstFailure(name, { throws, patience }, chosen = []) {
  const { executable, manifest_path } = build(name)
  const suite = spawn(executable, chosen, {
    cwd: dirname(manifest_path),
    env: { ...process.env, ...environment, ...throws },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: patience * 1000,
  })
  const ended = once(suite, 'exit')
  for await (const line of createInterface({ input: suite.stdout })) {
    const [, test] = line.match(/^test (.*?) \.\.\. FAILED$/) ?? []
    if (!test) continue
    suite.kill()
    return test
  }
  const [code, signal] = await ended
  return code === 0 ? undefined : `ended with ${signal ?? code}`
}

/** Compiles a suite → the message of cargo about its program. */
function build(suite) {
  const [name, test] = suite.split(' ')
  const features = test === 'simulation' ? ['--features', 'simulation'] : []
  const command = ['test', '-p', name, ...features, ...(test ? ['--test', test] : ['--lib'])]
  const quietly = ['--no-run', '--locked', '--quiet', '--message-format', 'json-render-diagnostics']
  const messages = capture('cargo', [...command, ...quietly], {
    cwd: copy,
    env: environment,
    showErrors: true,
  })
  return messages
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .find(({ executable, target }) => executable && target.test)
}
