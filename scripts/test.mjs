// npm test: everything that must hold, from a fresh clone. Stops at the first thing that does not.

import { rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { checkGuarantees } from './guarantees.mjs'
import { buildNative, buildTypeScript } from './lib/build.mjs'
import { install } from './lib/install.mjs'
import { filesBelow, packageFolder, root } from './lib/paths.mjs'
import { cargo, run, runTool } from './lib/process.mjs'
import { printTimes, runSteps } from './lib/steps.mjs'
import { packTest } from './pack-test.mjs'

const builtTests = join(packageFolder, 'build')
const tsc = (project) => runTool('typescript', 'tsc', ['-p', project])

printTimes(
  await runSteps([
    ['install packages', () => install()],
    ['build the native module', () => buildNative()],
    ['build the TypeScript', buildTypeScript],
    ['rustfmt', () => cargo(['fmt', '--all', '--check'])],
    ['clippy', () => cargo(['clippy', '--workspace', '--all-targets', '--locked', '--', '-D', 'warnings'])],
    ['cargo test', () => cargo(['test', '--workspace', '--locked'])],
    ['biome', () => runTool('@biomejs/biome', 'biome', ['check', '--error-on-warnings', '.'])],
    ['guarantees', checkGuarantees],
    ['types of the tests', compileTests],
    ['types of the native module', () => tsc('scripts/declarations')],
    ['node tests', nodeTests],
    ['the packed package', packTest],
  ]),
)

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
  ]
  run(process.execPath, ['--test', '--test-reporter=spec', ...files.map((file) => relative(root, file))])
}
