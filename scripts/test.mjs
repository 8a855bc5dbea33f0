// npm test: everything that must hold, from a fresh clone. Stops at the first thing that does not.

import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { checkExperiments } from './experiment.mjs'
import { checkGuarantees } from './guarantees.mjs'
import { buildNative, buildTestProfile, buildTypeScript } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { filesBelow, packageFolder, root } from './lib/paths.mjs'
import { cargo, run, runTool } from './lib/process.mjs'
import { printTimes, runSteps } from './lib/steps.mjs'
import { checkLinks } from './links.mjs'
import { packTest } from './pack-test.mjs'

const builtTests = join(packageFolder, 'build')
const clippy = (...options) =>
  cargo(['clippy', ...options, '--all-targets', '--locked', '--', '-D', 'warnings'])
/** All packages, so that what they depend on is compiled as without counters. */
const withCounters = ['--workspace', '--features', 'resqlite/profile,resqlite-node/profile']
const tsc = (project) => runTool('typescript', 'tsc', ['-p', project])

printTimes(
  await runSteps([
    ['install packages', () => install()],
    ['build the native module', () => buildNative()],
    ['build the TypeScript', buildTypeScript],
    ['rustfmt', () => cargo(['fmt', '--all', '--check'])],
    ['clippy', () => clippy('--workspace')],
    ['clippy with counters', () => clippy(...withCounters)],
    ['cargo test', () => cargo(['test', '--workspace', '--locked'])],
    ['cargo test with counters', testCounters],
    ['biome', () => runTool('@biomejs/biome', 'biome', ['check', '--error-on-warnings', '.'])],
    ['guarantees', checkGuarantees],
    ['links between the documents', checkLinks],
    ['docs/api.md', checkApiDocs],
    ['experiments', () => checkExperiments()],
    ['types of the tests', compileTests],
    ['types of the native module', () => tsc('scripts/declarations')],
    ['a native module with counters', () => (process.env.RESQLITE_TEST_PROFILE = buildTestProfile())],
    ['node tests', nodeTests],
    ['the packed package', packTest],
  ]),
)

function testCounters() {
  cargo(['test', ...withCounters, '--locked', '--test', 'profile'])
  cargo(['test', ...withCounters, '--locked', '--doc', 'profile'])
}

/** Imported here, because it needs a package that the first step installs. */
async function checkApiDocs() {
  await (await import('./api-docs.mjs')).checkApiDocs()
}

/** From nothing, so that no test outlives its source. */
function compileTests() {
  rmSync(builtTests, { recursive: true, force: true })
  tsc('packages/resqlite/tsconfig.test.json')
}

/** One run of node's test runner over all test files, so that one summary tells the whole. */
function nodeTests() {
  const files = [
    ...filesBelow(builtTests, /\.test\.[cm]?js$/),
    ...filesBelow(join(root, 'examples'), /\.test\.js$/),
    ...filesBelow(join(root, 'scripts', 'test'), /\.test\.mjs$/),
    ...filesBelow(join(root, 'bench', 'test', 'pure'), /\.test\.mjs$/),
  ]
  run(process.execPath, ['--test', '--test-reporter=spec', ...files.map((file) => relative(root, file))])
}
