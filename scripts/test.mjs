// npm test: what a push needs. npm run test:full: all that there is. Both work from a fresh clone. Lanes of steps run side
// by side, which keeps two cores busy.
//
//   npm test                            with native modules as `cargo test` compiles them: little optimised, checked
//   npm test -- --release               with the native module as it is published
//   npm test -- --list                  the names of the steps
//   npm test -- --step "node tests"     one step alone, with what the others left behind
//
// docs/testing.md says what is in which.

import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { checkExperiments } from './experiment.mjs'
import { checkFaults } from './faults.mjs'
import { checkFigures } from './figures.mjs'
import { checkGuarantees } from './guarantees.mjs'
import {
  buildNative,
  buildStudio,
  buildTestModule,
  buildTypeScript,
  checkRooms,
  testEngineAlone,
  testRust,
  testSimulated,
} from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { runLanes } from './lib/lanes.mjs'
import { filesBelow, root, testModule } from './lib/paths.mjs'
import { CommandFailed, cargo, run, runAsProgram, runTool } from './lib/process.mjs'
import { day } from './lib/random.mjs'
import { checkLinks } from './links.mjs'
import { packCliTest, packClusterTest, packTest } from './pack-test.mjs'

const flag = { type: 'boolean' }
const { values: options } = parseArgs({
  options: { step: { type: 'string' }, list: flag, release: flag, full: flag },
})

const tsc = (project) => runTool('tsc', 'tsc', ['-p', project])

const rust = [
  step('native module', buildModules),
  step('rooms of the crates', checkRooms),
  step('cargo test, with clippy', testRust),
  step('engine in the simulator', testSimulated),
]
const node = [
  step('rustfmt', () => cargo(['fmt', '--all', '--check'])),
  step('install packages', () => install()),
  step('biome', () => runTool('@biomejs/biome', 'biome', ['check', '--error-on-warnings', '.'])),
  step('rooms of the TypeScript', () =>
    runTool('dependency-cruiser', 'depcruise', [
      'packages/resqlite/src',
      'packages/cluster/src',
      'packages/sqlite3/src',
      'packages/cli/src',
      'packages/studio/cells',
      'packages/studio/server',
      'packages/studio/page',
      'scripts',
    ]),
  ),
  step('guarantees', checkGuarantees),
  step('docs/api.md', writeApiDocs),
  step('links between the documents', checkLinks),
  step('figures of the documents', checkFigures),
  step('experiments', () => checkExperiments()),
  step('planted faults fit', checkFaults),
  step('TypeScript', buildTypeScript),
  step('studio', buildStudio),
  step('types of the tests', compileTests),
  step('types of the page', () => tsc('packages/studio/page')),
  step('types of the native module', () => tsc('scripts/declarations'), 'native module'),
  step('node tests', nodeTests, 'native module'),
]
/** The full tests have these, too, one after the other, since each keeps the machine busy. */
const more = [
  step('check what is published', () => cargo(['check', '--package', 'resqlite-node', '--locked'])),
  step('engine without the log', testEngineAlone),
  step('packed package', packTest),
  step('packed cluster', packClusterTest),
  step('packed command line', packCliTest),
  ...[
    ['encryption', 'ciphers.mjs', 'test'],
    ['encryption, packed', 'ciphers.mjs', 'pack'],
    ['recipes for deployments', 'test-recipes.mjs'],
    ['servers of clusters', 'test-cluster.mjs'],
    ['examples of libraries', 'test-orms.mjs'],
    ['suites of query builders', 'suites.mjs'],
    ['site of the documents', 'site.mjs'],
    ['benchmark', 'bench.mjs', 'test'],
  ].map(([name, script, ...args]) =>
    step(name, () => run(process.execPath, [join(root, 'scripts', script), ...args])),
  ),
]

const lanes = [rust, node]

function step(name, run, ...needs) {
  return { name, run, needs }
}

await runAsProgram(import.meta.url, () => {
  if (options.list) return listSteps()
  // One day for all that runs, also beyond midnight.
  process.env.RESQLITE_DAY ??= String(day())
  if (options.full) process.env.RESQLITE_DICE ??= 'all'
  if (options.release) process.env.RESQLITE_TEST_PUBLISHED = '1'
  return options.step ? runOne(options.step) : runAll()
})

function listSteps() {
  for (const { name } of [...lanes, more].flat()) console.log(name)
}

async function runAll() {
  console.log(`the dice of the day ${process.env.RESQLITE_DAY}, which RESQLITE_DAY repeats`)
  await runLanes(lanes, argumentsFor)
  if (options.full) await runLanes([more], argumentsFor)
}

function argumentsFor(name) {
  const passed = ['release', 'full'].filter((option) => options[option]).map((option) => `--${option}`)
  return ['scripts/test.mjs', '--step', name, ...passed]
}

async function runOne(name) {
  const found = [...lanes, more].flat().find((step) => step.name === name)
  if (!found) throw new CommandFailed(`npm test has no step "${name}"`)
  await found.run()
}

/** Tests that name no module load the one that is published, if that is asked for. */
function buildModules() {
  buildTestModule({ byDefault: !options.release })
  if (options.release) buildNative()
}

/** Imported here, because it needs a package that the first step installs. */
async function writeApiDocs() {
  await (await import('./api-docs.mjs')).writeApiDocs()
}

/** From nothing, so that no test outlives its source. */
function compileTests() {
  for (const [folder, project] of [
    ['packages/resqlite', 'tsconfig.test.json'],
    ['packages/cluster', 'tsconfig.test.json'],
    ['packages/sqlite3', 'tsconfig.test.json'],
    ['examples/notes-server', 'tsconfig.json'],
  ]) {
    rmSync(join(root, folder, 'build'), { recursive: true, force: true })
    tsc(`${folder}/${project}`)
  }
}

/**
 * One run of node's test runner over all test files, so that one summary tells the whole. Two files at a time at least,
 * because one that waits for a process leaves its core idle.
 */
function nodeTests() {
  const files = [
    ...['packages/resqlite/build', 'packages/cluster/build', 'packages/sqlite3/build', 'packages/cli/test'],
    ...['packages/studio/test', 'examples', 'scripts/test', 'bench/test/pure'],
  ]
    .flatMap((folder) => filesBelow(join(root, folder), /\.test\.[cm]?js$/))
    .filter((file) => options.full || !file.includes('.long.test.'))
  const atOnce = Math.max(2, availableParallelism() - 1)
  const how = ['--test', '--test-reporter=spec', `--test-concurrency=${atOnce}`]
  run(process.execPath, [...how, ...files.map((file) => relative(root, file))], {
    env: { RESQLITE_TEST_PROFILE: testModule, RESQLITE_TEST_CLUSTER: testModule },
  })
}
