import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { declarations } from './declarations.mjs'
import { nativeFolder, packageFolder, profileFolder } from './paths.mjs'
import { nativeFile, platformOfTarget } from './platforms.mjs'
import { capture, npm, requireCargo } from './process.mjs'

const crate = 'resqlite-node'

/** The oldest glibc that binaries linked with zig run on. */
const glibc = '2.17'

/**
 * Builds the native module into packages/resqlite/native: `resqlite.<platform>.node`, and `generated.d.ts` with
 * what it exports.
 *
 * @param {{ target?: string, zig?: boolean }} options `target`: a Rust target instead of this machine's; `zig`: link
 *   with `cargo zigbuild`, which reaches other C libraries than the one of this machine
 */
export function buildNative({ target, zig = false } = {}) {
  requireCargo()
  const definitions = definitionsFolder()
  const library = compile({ target, zig, definitions })
  mkdirSync(nativeFolder, { recursive: true })
  putInPlace(library, join(nativeFolder, nativeFile(platformOfTarget(target ?? hostTarget()))))
  const written = readFileSync(join(definitions, crate), 'utf8')
  writeFileSync(join(nativeFolder, 'generated.d.ts'), declarations(written))
}

/**
 * Builds the native module with its counters (see docs/profiling.md) and gives back where it is:
 * packages/resqlite/native/profile/resqlite.<platform>.node. It is compiled in a folder of its own, because cargo
 * keeps one shared library per crate, whatever its features are.
 */
export function buildProfile() {
  requireCargo()
  const folder = join(targetFolder(), 'profile')
  const library = compile({ features: 'profile', folder })
  return keepProfile(library, nativeFile(platformOfTarget(hostTarget())))
}

/**
 * Builds the native module with its counters for tests, without optimisations, and gives back where it is. What
 * `cargo test` has compiled is used again; nothing else builds this library in that folder.
 */
export function buildTestProfile() {
  requireCargo()
  const library = compile({ features: 'profile', release: false })
  return keepProfile(library, 'tests.node')
}

function keepProfile(library, name) {
  mkdirSync(profileFolder, { recursive: true })
  const file = join(profileFolder, name)
  putInPlace(library, file)
  return file
}

/** Compiles the TypeScript of the package into packages/resqlite/dist. */
export function buildTypeScript() {
  npm(['run', 'build', '--silent'], { cwd: packageFolder })
}

/** Compiles the crate and gives back the path of the shared library. */
function compile({ target, zig, definitions, features, folder, release = true }) {
  const command = ['--locked', '--package', crate, '--message-format', 'json-render-diagnostics']
  if (release) command.push('--release')
  if (features) command.push('--features', features)
  if (folder) command.push('--target-dir', folder)
  if (target) command.push('--target', zig && target.endsWith('gnu') ? `${target}.${glibc}` : target)
  const env = definitions ? { NAPI_TYPE_DEF_TMP_FOLDER: definitions } : {}
  // A shared library for musl needs musl's shared libc: Rust links the static one unless told.
  if (target?.endsWith('musl')) env.RUSTFLAGS = '-C target-feature=-crt-static'
  const messages = capture('cargo', [zig ? 'zigbuild' : 'build', ...command], { env, showErrors: true })
  return sharedLibrary(messages)
}

function sharedLibrary(messages) {
  const files = messages
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter(({ reason, target }) => reason === 'compiler-artifact' && target.kind.includes('cdylib'))
    .flatMap(({ filenames }) => filenames)
  return files.find((file) => /\.(so|dylib|dll)$/.test(file))
}

/** Where the macros of napi-derive leave what they export. They write it only when the crate is compiled. */
function definitionsFolder() {
  const folder = join(targetFolder(), 'napi-definitions')
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
