// npm run bench: resqlite against its peers. Options go to the benchmark, such as `-- --quick`.
// npm run bench:audits, bench:ab, bench:test: the other programs of the folder `bench`, prepared in the same way.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { usage } from '../bench/usage.mjs'
import { buildNative, buildTypeScript, buildVariant } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { root } from './lib/paths.mjs'
import { CommandFailed, run } from './lib/process.mjs'
import { runSteps } from './lib/steps.mjs'

const bench = join(root, 'bench')
const node = join(bench, 'node_modules', 'node', 'bin', 'node')

const program = (script) => (args) => run(process.execPath, [join('bench', script), ...args])
const programs = {
  run: { start: program('run.mjs'), needs: ['sqlite3', 'build'] },
  audits: { start: program('audits/run.mjs'), needs: ['build', 'profile build'] },
  ab: { start: program('ab/run.mjs'), needs: ['build'] },
  'false-alarms': { start: program('ab/false-alarms.mjs'), needs: ['build'] },
  test: { start: runTests, needs: ['build'] },
}

const steps = {
  sqlite3: ['install sqlite3, which may have to be compiled', installSqlite3],
  builders: ['install the builders', () => install(join(bench, 'optional', 'builders'))],
  build: [
    'build resqlite',
    () => {
      buildNative()
      buildTypeScript()
    },
  ],
  'profile build': ['build resqlite with counters', () => void buildVariant('profile')],
}

const [name, ...args] = process.argv.slice(2)
if (!(name in programs) || (name === 'run' && args.includes('--help'))) {
  console.log(usage())
  process.exit(name in programs ? 0 : 2)
}
const { start, needs } = programs[name]
const onlyReads = args.some((arg) => ['--compare', '--report', '--list'].includes(arg))
/** They are slow workloads, so they run only if they are asked for. */
const withBuilders = args.some((arg) => arg.includes('builders') || arg === '--include-slow')

await runSteps([
  ['install packages', () => install()],
  ['install the peers', () => install(bench)],
  ...(onlyReads ? [] : [...needs, ...(withBuilders ? ['builders'] : [])].map((need) => steps[need])),
  ['benchmark', () => start(args)],
])

/** The one peer that is not there in binary form everywhere. The others go on without it. */
function installSqlite3() {
  try {
    install(join(bench, 'optional', 'sqlite3'))
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    console.error(`sqlite3 is left out: ${error.message}`)
  }
}

function runTests(args) {
  if (!existsSync(node)) throw new CommandFailed(`${node} is missing`)
  const files = args.length > 0 ? args : ['test/**/*.test.mjs']
  run(node, ['--expose-gc', '--test', ...files], { cwd: bench })
}
