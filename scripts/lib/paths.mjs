import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')

/** The npm packages. */
export const packageFolder = join(root, 'packages', 'resqlite')
export const clusterFolder = join(root, 'packages', 'cluster')
export const libsqlFolder = join(root, 'packages', 'libsql')
export const sqlite3Folder = join(root, 'packages', 'sqlite3')
export const cliFolder = join(root, 'packages', 'cli')
export const studioFolder = join(root, 'packages', 'studio')

/** Where the native module and its generated declarations are put. */
export const nativeFolder = join(packageFolder, 'native')

/** Where native modules with counters are put; nothing there is found by default. */
export const profileFolder = join(nativeFolder, 'profile')

/** The native module that npm test builds, with counters and nodes of clusters. */
export const testModule = join(profileFolder, 'tests.node')

/** The file of a command that an installed package brings: run it with node, the same way on every system. */
export function toolPath(packageName, command) {
  const require = createRequire(join(root, 'package.json'))
  const manifestPath = join(root, 'node_modules', packageName, 'package.json')
  const { bin } = require(manifestPath)
  return join(dirname(manifestPath), typeof bin === 'string' ? bin : bin[command])
}

/** All files below a folder whose names match, sorted. Folders of installed packages are not entered, nor are links. */
export function filesBelow(folder, pattern) {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return filesBelow(path, pattern)
      return pattern.test(entry.name) ? [path] : []
    })
    .sort()
}
