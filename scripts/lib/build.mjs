import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ciphersTarget } from './ciphers.mjs'
import { declarations } from './declarations.mjs'
import {
  cliFolder,
  clusterFolder,
  nativeFolder,
  packageFolder,
  profileFolder,
  sqlite3Folder,
  studioFolder,
  testModule,
} from './paths.mjs'
import { ciphersFile, clusterFile, nativeFile, platformOfTarget } from './platforms.mjs'
import { capture, cargo, npm } from './process.mjs'

const crate = 'resqlite-node'

/**
 * Packages and features of everything that is compiled for tests: counters and the nodes of clusters are always there. Cargo
 * gives dependencies the features that everything it compiles asks for, so the engine is compiled once for all tests.
 */
const features = 'resqlite/profile,resqlite-node/profile,resqlite-node/cluster'
const allTests = ['--workspace', '--features', features]

/**
 * Nothing else uses this profile, so nothing else replaces the shared library in its folder: cargo keeps one there, and takes it
 * for fresh when one with other features has replaced it.
 */
const testing = ['--profile', 'testing', '--locked']

/** Clippy compiles as rustc does, and lints on the way, so that nothing is compiled twice. A warning is an error. */
const linted = {
  RUSTC_WORKSPACE_WRAPPER: 'clippy-driver',
  CLIPPY_ARGS: ['-D', 'warnings', ''].join('__CLIPPY_HACKERY__'),
}

/** Compiles and runs the tests of all crates. */
export function testRust() {
  const env = { ...linted, NAPI_TYPE_DEF_TMP_FOLDER: definitionsFolder('tests') }
  cargo(['test', ...testing, ...allTests], { env })
}

/** Tests the engine in the simulator, whose threads it is compiled with once more. */
export function testSimulated() {
  const simulated = ['--workspace', '--features', `${features},resqlite/simulation`, '--test', 'simulation']
  cargo(['test', ...testing, ...simulated], { env: linted })
}

/** Tests the engine without the log of entries, which is compiled once more for that. */
export function testEngineAlone() {
  cargo(['test', ...testing, '--package', 'resqlite', '--no-default-features', '--test', 'engine'])
}

/** Checks the rooms of the crates. */
export function checkRooms() {
  cargo(['run', '--quiet', ...testing, '--package', 'rooms'], { env: linted })
}

/** The shared library of the crate, on any system. */
const libraryName = /^(lib)?resqlite_node\.(so|dylib|dll)$/

/** The oldest glibc that binaries linked with zig run on. */
const glibc = '2.17'

/**
 * Builds the native module into packages/resqlite/native: `resqlite.<platform>.node`, and `generated.d.ts` with
 * what it exports.
 *
 * @param {{ target?: string, zig?: boolean, cargoProfile?: 'release' | 'quick' }} options `target`: a Rust target instead of this
 *   machine's; `zig`: link with `cargo zigbuild`, which reaches other C libraries than the one of this machine; `cargoProfile`: how
 *   much it is optimised, `release` as it is published
 */
export function buildNative({ target, zig = false, cargoProfile = 'release' } = {}) {
  const definitions = definitionsFolder()
  const library = compile({ target, zig, definitions, cargoProfile })
  placeNative(library, definitions, target)
}

/**
 * Builds the native module for tests from what `cargo test` compiles, too: little optimised, with the assertions of
 * debug builds, with counters and nodes of clusters.
 *
 * @param {{ byDefault: boolean }} options `byDefault`: tests that name no module load it, too
 */
export function buildTestModule({ byDefault }) {
  const definitions = definitionsFolder('tests')
  const chosen = [...allTests, '--test', 'protocol', '--lib']
  const library = compile({ chosen, definitions, cargoProfile: 'testing', env: linted })
  mkdirSync(profileFolder, { recursive: true })
  putInPlace(library, testModule)
  if (byDefault) placeNative(library, definitions)
}

/** Native modules beside the one that is loaded by default: what they have more, and where they are put. */
const variants = {
  /** With counters (docs/profiling.md). */
  profile: { features: 'profile', file: (platform) => join('profile', nativeFile(platform)) },
  /** With encryption; the sources are prepared (lib/ciphers.mjs). */
  ciphers: { features: 'ciphers', file: ciphersFile },
  /** With nodes of clusters and all logs; those with the log in memory are in the module for tests, too. */
  cluster: { features: 'logs', file: clusterFile },
}

/**
 * Builds a native module under a name that nothing loads by default, and gives back where it is. It is compiled in a folder
 * of its own, because cargo keeps one shared library per crate, whatever its features are.
 *
 * @param {keyof typeof variants} variant
 * @param {{ target?: string, zig?: boolean, forTests?: boolean }} options `forTests`: little optimised, and not placed
 *   beside those that are published
 */
export function buildVariant(variant, { target, zig = false, forTests = false } = {}) {
  const { features, file } = variants[variant]
  const folder = variant === 'ciphers' ? ciphersTarget : join(targetFolder(), variant)
  const library = compile({ target, zig, features, folder, cargoProfile: forTests ? 'dev' : 'release' })
  const placed = forTests
    ? join(folder, 'tests.node')
    : join(nativeFolder, file(platformOfTarget(target ?? hostTarget())))
  mkdirSync(dirname(placed), { recursive: true })
  putInPlace(library, placed)
  return placed
}

function placeNative(library, definitions, target = hostTarget()) {
  mkdirSync(nativeFolder, { recursive: true })
  putInPlace(library, join(nativeFolder, nativeFile(platformOfTarget(target))))
  const written = readFileSync(join(definitions, crate), 'utf8')
  writeFileSync(join(nativeFolder, 'generated.d.ts'), declarations(written))
}

/** Compiles the TypeScript of each package into its folder `dist`. */
export function buildTypeScript() {
  for (const folder of [packageFolder, clusterFolder, sqlite3Folder, cliFolder])
    npm(['run', 'build', '--silent'], { cwd: folder })
}

/** Builds the studio into packages/studio/dist: its server, and the page with the libraries that it uses. */
export function buildStudio() {
  npm(['run', 'build', '--silent'], { cwd: studioFolder })
}

/** Compiles the crate and gives back the path of the shared library. */
function compile({
  chosen = ['--package', crate],
  target,
  zig,
  definitions,
  features,
  folder,
  cargoProfile,
  env = {},
}) {
  const command = ['--locked', '--profile', cargoProfile, ...chosen]
  if (features) command.push('--features', features)
  if (folder) command.push('--target-dir', folder)
  if (target) command.push('--target', zig && target.endsWith('gnu') ? `${target}.${glibc}` : target)
  if (definitions) env = { NAPI_TYPE_DEF_TMP_FOLDER: definitions, ...env }
  // A shared library for musl needs musl's shared libc: Rust links the static one unless told.
  if (target?.endsWith('musl')) env.RUSTFLAGS = '-C target-feature=-crt-static'
  command.push('--message-format', 'json-render-diagnostics')
  const files = capture('cargo', [zig ? 'zigbuild' : 'build', ...command], { env, showErrors: true })
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ reason, target }) => reason === 'compiler-artifact' && target.kind.includes('cdylib'))
    .flatMap(({ filenames }) => filenames)
  return files.find((file) => libraryName.test(basename(file)))
}

/**
 * The folder where the macros of napi-derive write what the crate exports, whenever the crate is compiled. The crate is
 * compiled again when its name, in NAPI_TYPE_DEF_TMP_FOLDER, changes; tests have to name the same folder.
 */
function definitionsFolder(use = 'release') {
  const folder = join(targetFolder(), 'napi-definitions', use)
  mkdirSync(folder, { recursive: true })
  return folder
}

function targetFolder() {
  return JSON.parse(capture('cargo', ['metadata', '--no-deps', '--format-version', '1'])).target_directory
}

function hostTarget() {
  return /^host: (.+)$/m.exec(capture('rustc', ['-vV']))[1].trim()
}

/** Replaces a file in one step: a process that has loaded the old one keeps it. */
function putInPlace(source, destination) {
  const fresh = `${destination}.${process.pid}`
  copyFileSync(source, fresh)
  rmSync(destination, { force: true })
  renameSync(fresh, destination)
}
