// Prepares a release: puts the native modules that were built (a folder of .node files) into the packages of their
// platforms, and makes the main package ask for them. The platform packages are not in the repository's
// package.json because an install from source has nothing to fetch them from before they are published.
//
//   node scripts/prepublish.mjs <folder with resqlite.<platform>.node files>

import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chosen, fillChosen } from './lib/chosen-packages.mjs'
import { cliFolder, libsqlFolder, packageFolder, sqlite3Folder, studioFolder } from './lib/paths.mjs'
import { nativeFile, platformFolder, platforms } from './lib/platforms.mjs'

const [folder] = process.argv.slice(2)
if (!folder) throw new Error('usage: node scripts/prepublish.mjs <folder with the native modules>')

const kinds = Object.entries(chosen)
const files = platforms.flatMap((platform) => [
  nativeFile(platform),
  ...kinds.map(([, { file }]) => file(platform)),
])
const missing = files.filter((file) => !existsSync(join(resolve(folder), file)))
if (missing.length > 0) throw new Error(`${folder} lacks ${missing.join(', ')}`)

const main = readManifest(packageFolder)
const manifests = kinds.map(([, { folder: at }]) => ({
  ...readManifest(at),
  version: main.version,
  optionalDependencies: {},
}))
main.optionalDependencies = {}
for (const platform of platforms) {
  const target = platformFolder(platform)
  copyFileSync(join(resolve(folder), nativeFile(platform)), join(target, nativeFile(platform)))
  const manifest = { ...readManifest(target), version: main.version }
  writeManifest(target, manifest)
  main.optionalDependencies[manifest.name] = main.version
  for (const [at, [name, { file }]] of kinds.entries()) {
    const module = join(resolve(folder), file(platform))
    const filled = fillChosen(name, platform, module, `${target}-${name}`, main.version)
    manifests[at].optionalDependencies[filled.name] = main.version
  }
}
for (const [at, [, { folder: own }]] of kinds.entries()) {
  const manifest = manifests[at]
  if (manifest.peerDependencies) manifest.peerDependencies[main.name] = main.version
  // npm then refuses another version of it beside resqlite.
  main.peerDependencies[manifest.name] = main.version
  main.peerDependenciesMeta[manifest.name] = { optional: true }
  writeManifest(own, manifest)
}
const libsql = { ...readManifest(libsqlFolder), version: main.version }
libsql.dependencies[main.name] = main.version
writeManifest(libsqlFolder, libsql)
const cli = { ...readManifest(cliFolder), version: main.version }
cli.dependencies[main.name] = main.version
cli.peerDependencies['@resqlite/studio'] = main.version
writeManifest(cliFolder, cli)
writeManifest(packageFolder, main)

for (const folder of [sqlite3Folder, studioFolder]) {
  const peerDependencies = { [main.name]: main.version }
  writeManifest(folder, { ...readManifest(folder), version: main.version, peerDependencies })
}
console.log(`${main.name} ${main.version} is ready for ${platforms.length} platforms`)

function readManifest(at) {
  return JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'))
}

function writeManifest(at, manifest) {
  writeFileSync(join(at, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
