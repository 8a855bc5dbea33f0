// Packs the packages as a release does, and checks what is in them.

import { copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chosen, fillChosen } from './chosen-packages.mjs'
import { lintPackage } from './package-lint.mjs'
import {
  cliFolder,
  clusterFolder,
  libsqlFolder,
  nativeFolder,
  packageFolder,
  sqlite3Folder,
  studioFolder,
} from './paths.mjs'
import { nativeFile, platformFolder, thisPlatform } from './platforms.mjs'
import { CommandFailed, npm } from './process.mjs'

/** The files that each package may contain. */
const expectedFiles = {
  main: /^(dist\/.+\.(js|mjs|d\.ts|d\.mts)|package\.json|README\.md|LICENSE)$/,
  cli: /^(dist\/.+\.js|package\.json|README\.md|LICENSE)$/,
  libsql: /^(index\.(js|mjs|d\.ts|d\.mts)|package\.json|README\.md|LICENSE)$/,
  // Its server, and the page as one script and one sheet.
  studio:
    /^(dist\/(?:cells|server)\/.+\.(js|d\.ts)|dist\/page\/(index\.html|app\.(js|css)|icon\.svg|licenses\.txt)|package\.json|README\.md|LICENSE)$/,
  sqlite3: /^(dist\/.+\.(js|mjs|d\.ts|d\.mts)|package\.json|README\.md|LICENSE)$/,
  cluster: /^(dist\/.+\.(js|mjs|d\.ts|d\.mts)|native\.js|package\.json|README\.md|LICENSE)$/,
}

/** Scripts that npm would run on the machine of somebody who installs the package. */
const installScripts = ['preinstall', 'install', 'postinstall', 'prepare']

/** Works in an empty folder, which is gone afterwards. */
export async function inProject(work) {
  const project = mkdtempSync(join(tmpdir(), 'resqlite-pack-'))
  try {
    await work(project)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

export const packMain = (project) => pack(packageFolder, project, expectedFiles.main)
export const packStudio = (project) => pack(studioFolder, project, expectedFiles.studio)
export const packLibsql = (project) => pack(libsqlFolder, project, expectedFiles.libsql)
export const packCli = (project) => pack(cliFolder, project, expectedFiles.cli)
export const packCluster = (project) => pack(clusterFolder, project, expectedFiles.cluster)
export const packSqlite3 = (project) => pack(sqlite3Folder, project, expectedFiles.sqlite3)
export const packCiphers = (project) => pack(chosen.ciphers.folder, project)

/** The package with the native module, as a release fills it. */
export function packPlatform(project) {
  const platform = thisPlatform()
  const folder = join(project, 'platform')
  cpSync(platformFolder(platform), folder, { recursive: true })
  copyFileSync(join(nativeFolder, nativeFile(platform)), join(folder, nativeFile(platform)))
  return pack(folder, project)
}

/** The package with the native module of a package that has its own. */
export function packChosenPlatform(name, module, project) {
  const folder = join(project, 'platform')
  fillChosen(name, thisPlatform(), module, folder)
  return pack(folder, project)
}

/** Packs all packages, those with native modules of their own if these are built, and returns the names of the tarballs. */
export function packAll(project) {
  const packs = [packMain, packPlatform, packSqlite3, packLibsql, packCli, packStudio]
  for (const [name, packOwn] of Object.entries({ ciphers: packCiphers, cluster: packCluster })) {
    const module = join(nativeFolder, chosen[name].file(thisPlatform()))
    if (existsSync(module)) packs.push(packOwn, (project) => packChosenPlatform(name, module, project))
  }
  return packs.map((pack) => pack(project))
}

/** Packs a package into a folder, checks the tarball, and returns its name. */
function pack(folder, destination, expected = /^/) {
  const { name, scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const found = installScripts.filter((script) => scripts[script])
  if (found.length > 0) throw new CommandFailed(`${name} would run ${found.join(', ')} where it is installed`)
  const output = npm(['pack', '--json', '--pack-destination', destination], { cwd: folder, quiet: true })
  const [{ filename, files, size }] = JSON.parse(output)
  const unexpected = files.map(({ path }) => path).filter((path) => !expected.test(path))
  if (unexpected.length > 0) throw new CommandFailed(`unexpected in ${filename}: ${unexpected.join(', ')}`)
  lintPackage(folder, join(destination, filename))
  console.log(`${filename}: ${files.length} files, ${(size / 1024).toFixed(0)} kB`)
  return filename
}

/** Installs tarballs in an empty folder, without asking the registry. */
export function installIn(project, tarballs, overrides = {}) {
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'pack-test', private: true, overrides }),
  )
  const files = tarballs.map((file) => `./${file}`)
  npm(['install', '--offline', '--ignore-scripts', '--no-package-lock', ...files], {
    cwd: project,
    quiet: true,
  })
}
