import { createRequire } from 'node:module'
import { join } from 'node:path'
import { packageFolder } from './paths.mjs'

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

/** The files that hold the native module of a platform, the one with encryption, and the one with nodes of clusters. */
export const nativeFile = (platform) => `resqlite.${platform}.node`
export const ciphersFile = (platform) => `resqlite-ciphers.${platform}.node`
export const clusterFile = (platform) => `resqlite-cluster.${platform}.node`

/** The folder of a platform's package. */
export const platformFolder = (platform) => join(packageFolder, 'npm', platform)

/** The platform of this machine, by the rule with which the package finds its native module. */
export function thisPlatform() {
  return createRequire(import.meta.url)(join(packageFolder, 'dist', 'wire', 'native.js')).nativeTriple()
}
