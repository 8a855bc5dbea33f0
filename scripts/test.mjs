// npm test: what a push needs. npm run test:full: all that there is. Both work from a fresh clone. Lanes of steps run side
// by side, which keeps two cores busy.
//
//   npm test                            with native modules as `cargo test` compiles them: little optimised, checked
//   npm test -- --release               with the native module as it is published
//   npm test -- --list                  the names of the steps
//   npm test -- --step "node tests"     one step alone, with what the others left behind
//
// docs/testing.md says what is in which, and how long each takes.

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
  compileOnce,
  definitionsFolder,
  forTests,
} from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { runLanes } from './lib/lanes.mjs'
import {
  cliFolder,
  clusterFolder,
  filesBelow,
  packageFolder,
  root,
  studioFolder,
  testModule,
} from './lib/paths.mjs'
import { CommandFailed, cargo, run, runAsProgram, runTool } from './lib/process.mjs'
import { day } from './lib/random.mjs'
import { checkLinks } from './links.mjs'
import { packCliTest, packClusterTest, packTest } from './pack-test.mjs'

const { values: options } = parseArgs({
  options: {
    step: { type: 'string' },
    list: { type: 'boolean' },
    release: { type: 'boolean' },
    full: { type: 'boolean' },
  },
})

const builtTests = join(packageFolder, 'build')
const builtClusterTests = join(clusterFolder, 'build')
const notesServer = join(root, 'examples', 'notes-server')
const clippy = () => cargo(['clippy', ...forTests, '--all-targets', '--locked', '--', '-D', 'warnings'])
const tsc = (project) => runTool('typescript', 'tsc', ['-p', project])

const rust = [
  step('native module', buildModules),
  step('rooms of the crates', () => cargo(['run', '--quiet', '--locked', '--package', 'rooms'])),
  step('compile the Rust tests', () => cargo(['test', ...forTests, '--locked', '--no-run'])),
  step('cargo test', () => cargo(['test', ...forTests, '--locked'])),
]
/** While tests run, because a cargo that compiles locks the folder of the others. */
const lints = [step('clippy', clippy, 'compile the Rust tests')]
const node = [
  step('rustfmt', () => cargo(['fmt', '--all', '--check'])),
  step('install packages', () => install()),
  step('biome', () => runTool('@biomejs/biome', 'biome', ['check', '--error-on-warnings', '.'])),
  step('rooms of the TypeScript', () =>
    runTool('dependency-cruiser', 'depcruise', [
      'packages/resqlite/src',
      'packages/cluster/src',
      'packages/cli/src',
      'packages/studio/cells',
      'packages/studio/server',
      'packages/studio/page',
      'scripts',
    ]),
  ),
  step('guarantees', checkGuarantees),
  step('links between the documents', checkLinks),
  step('figures of the documents', checkFigures),
  step('docs/api.md', checkApiDocs),
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
  step('packed package', packTest),
  step('packed cluster', packClusterTest),
  step('packed command line', packCliTest),
  ...[
    ['encryption', 'ciphers.mjs', 'test'],
    ['encryption, packed', 'ciphers.mjs', 'pack'],
    ['recipes for deployments', 'test-recipes.mjs'],
    ['servers of clusters', 'test-cluster.mjs'],
    ['suites of query builders', 'suites.mjs'],
  ].map(([name, script, ...args]) =>
    step(name, () => run(process.execPath, [join(root, 'scripts', script), ...args])),
  ),
]

const lanes = [rust, lints, node]

function step(name, run, ...needs) {
  return { name, run, needs }
}

await runAsProgram(import.meta.url, () => {
  if (options.list) return listSteps()
  compileOnce()
  // One day for all that runs, also beyond midnight.
  process.env.RESQLITE_DAY ??= String(day())
  if (options.full) process.env.RESQLITE_DICE ??= 'all'
  process.env.NAPI_TYPE_DEF_TMP_FOLDER = definitionsFolder('tests')
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
async function checkApiDocs() {
  await (await import('./api-docs.mjs')).checkApiDocs()
}

/** From nothing, so that no test outlives its source. */
function compileTests() {
  for (const folder of [builtTests, builtClusterTests, join(notesServer, 'build')])
    rmSync(folder, { recursive: true, force: true })
  tsc('packages/resqlite/tsconfig.test.json')
  tsc('packages/cluster/tsconfig.test.json')
  tsc(notesServer)
}

/**
 * One run of node's test runner over all test files, so that one summary tells the whole. Two files at a time at least,
 * because one that waits for a process leaves its core idle.
 */
function nodeTests() {
  const isMeant = (file) => options.full || !file.includes('.long.test.')
  const files = [
    ...filesBelow(builtTests, /\.test\.[cm]?js$/),
    ...filesBelow(builtClusterTests, /\.test\.[cm]?js$/),
    ...filesBelow(join(cliFolder, 'test'), /\.test\.mjs$/),
    ...filesBelow(join(studioFolder, 'test'), /\.test\.mjs$/),
    ...filesBelow(join(root, 'examples'), /\.test\.js$/),
    ...filesBelow(join(root, 'scripts', 'test'), /\.test\.mjs$/),
    ...filesBelow(join(root, 'bench', 'test', 'pure'), /\.test\.mjs$/),
  ].filter(isMeant)
  const atOnce = Math.max(2, availableParallelism() - 1)
  const how = ['--test', '--test-reporter=spec', `--test-concurrency=${atOnce}`]
  run(process.execPath, [...how, ...files.map((file) => relative(root, file))], {
    env: { RESQLITE_TEST_PROFILE: testModule, RESQLITE_TEST_CLUSTER: testModule },
  })
}
