// Builds and tests resqlite with encryption (docs/encryption.md), which npm test leaves out.
//
//   node scripts/ciphers.mjs source     fetches the sources of SQLite3 Multiple Ciphers, and prints where they are
//   node scripts/ciphers.mjs build      the native module, as it is published; takes --target and --zig like `npm run build`
//   node scripts/ciphers.mjs test       the tests of encryption, and all others with every database encrypted
//   node scripts/ciphers.mjs pack       packs the packages, installs them in an empty project and opens a database with a key

import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { notInNode, notInRust } from './ciphers/exceptions.mjs'
import { buildTypeScript, buildVariant } from './lib/build.mjs'
import { ciphersTarget, prepareCiphers } from './lib/ciphers.mjs'
import { install } from './lib/install.mjs'
import { filesBelow, packageFolder, root } from './lib/paths.mjs'
import { CommandFailed, cargo, run, runAsProgram, runTool } from './lib/process.mjs'
import { runSteps } from './lib/steps.mjs'
import { packCiphersTest } from './pack-test.mjs'

/** The key of all databases of the tests: 32 characters. */
const key = 'the key with which tests encrypt'

/** The native module for tests, once it is built. */
let testModule

const features = ['resqlite/ciphers', 'resqlite-node/ciphers', 'resqlite-sqlite/ciphers']
const withCiphers = ['--features', features.join(), '--target-dir', ciphersTarget, '--locked']

await runAsProgram(import.meta.url, async () => {
  const { values, positionals } = parseArgs({
    options: { target: { type: 'string' }, zig: { type: 'boolean' } },
    allowPositionals: true,
  })
  const commands = { source: printSource, build: () => build(values), test, pack }
  const [name] = positionals
  if (!Object.hasOwn(commands, name ?? ''))
    throw new CommandFailed(`usage: node scripts/ciphers.mjs ${Object.keys(commands).join('|')}`)
  await commands[name]()
})

function printSource() {
  console.log(`RESQLITE_CIPHERS_SOURCE=${prepareCiphers()}`)
}

async function build(options) {
  await runSteps([
    ['sources', prepareCiphers],
    ['build the native module', () => console.log(buildVariant('ciphers', options))],
  ])
}

async function pack() {
  await runSteps([
    ['install packages', () => install()],
    ['sources', prepareCiphers],
    ['native module', () => buildVariant('ciphers')],
    ['TypeScript', buildTypeScript],
    ['packed packages', packCiphersTest],
  ])
}

async function test() {
  await runSteps([
    ['install packages', () => install()],
    ['sources', prepareCiphers],
    [
      'clippy',
      () => cargo(['clippy', '--workspace', '--all-targets', ...withCiphers, '--', '-D', 'warnings']),
    ],
    ['Rust: encryption', () => cargo(['test', '--workspace', '--test', 'ciphers', ...withCiphers])],
    ['Rust: all others, encrypted', testRust],
    ['TypeScript', compileTypeScript],
    ['TypeScript: encryption', () => testNode([join('build', 'test', '13-encryption.test.js')])],
    ['docs/encryption.md', testPage],
    ['TypeScript: all others, encrypted', testNodeEncrypted],
  ])
}

function testRust() {
  const skipped = notInRust.flatMap(([name]) => ['--skip', name])
  cargo(['test', '--workspace', '--lib', '--tests', ...withCiphers, '--', ...skipped], {
    env: { RESQLITE_TEST_KEY: key },
  })
}

function compileTypeScript() {
  buildTypeScript()
  runTool('tsc', 'tsc', ['-p', 'packages/resqlite/tsconfig.test.json'])
}

function testNode(files, encrypted = false) {
  testModule ??= buildVariant('ciphers', { forTests: true })
  const env = { RESQLITE_NATIVE_PATH: testModule }
  const preload = join(packageFolder, 'build', 'test', 'support', 'keyed.js')
  if (encrypted) Object.assign(env, { RESQLITE_TEST_KEY: key, NODE_OPTIONS: `--require ${preload}` })
  run(process.execPath, ['--test', '--test-concurrency=2', ...files], { cwd: packageFolder, env })
}

function testPage() {
  const test = join(root, 'scripts', 'test', 'docs.test.mjs')
  run(process.execPath, ['--test', '--test-name-pattern=docs/encryption.md', test], {
    env: { RESQLITE_NATIVE_PATH: testModule },
  })
}

function testNodeEncrypted() {
  const files = filesBelow(join(packageFolder, 'build', 'test'), /\.test\.[cm]?js$/)
  const isLeftOut = (file) => notInNode.some((left) => basename(file).startsWith(left.file))
  testNode(
    files.filter((file) => !isLeftOut(file)),
    true,
  )
}
