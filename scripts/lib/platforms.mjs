import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { packageFolder, root } from './paths.mjs'

const platformByTarget = {
  'x86_64-unknown-linux-gnu': 'linux-x64-gnu',
  'aarch64-unknown-linux-gnu': 'linux-arm64-gnu',
  'x86_64-unknown-linux-musl': 'linux-x64-musl',
  'aarch64-unknown-linux-musl': 'linux-arm64-musl',
  'x86_64-apple-darwin': 'darwin-x64',
  'aarch64-apple-darwin': 'darwin-arm64',
  'x86_64-pc-windows-msvc': 'win32-x64-msvc',
  'aarch64-pc-windows-msvc': 'win32-arm64-msvc',
}

/** The platforms that are published, by the names of their packages: `@resqlite/<name>`. */
export const platforms = Object.values(platformByTarget)

/** The platform that a Rust target compiles for. */
export function platformOfTarget(target) {
  const platform = platformByTarget[target]
  if (!platform) throw new Error(`resqlite has no name for ${target}: see scripts/lib/platforms.mjs`)
  return platform
}

/** The file that holds the native module of a platform. */
export const nativeFile = (platform) => `resqlite.${platform}.node`

/** The file that holds the native module with encryption. */
export const ciphersFile = (platform) => `resqlite-ciphers.${platform}.node`

/**
 * Makes the package of a platform with encryption in a folder, from that of the one without and the native module in
 * `modules`. Returns its manifest.
 */
export function fillCiphers(platform, modules, folder, version) {
  const [file, licence] = [ciphersFile(platform), 'LICENSE-SQLite3MultipleCiphers']
  const plain = JSON.parse(readFileSync(join(platformFolder(platform), 'package.json'), 'utf8'))
  const manifest = {
    ...plain,
    name: plain.name.replace('/', '/ciphers-'),
    version: version ?? plain.version,
    description: plain.description.replace('resqlite', '@resqlite/ciphers'),
    repository: { ...plain.repository, directory: 'packages/ciphers' },
    main: file,
    files: [file, licence],
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(modules, file), join(folder, file))
  copyFileSync(join(ciphersFolder, licence), join(folder, licence))
  return manifest
}

/** The package that asks for those with encryption. */
export const ciphersFolder = join(root, 'packages', 'ciphers')

/** The folder of a platform's package. */
export const platformFolder = (platform) => join(packageFolder, 'npm', platform)

/** The platform of this machine, by the rule with which the package finds its native module. */
export function thisPlatform() {
  return createRequire(import.meta.url)(join(packageFolder, 'dist', 'wire', 'native.js')).nativeTriple()
}
