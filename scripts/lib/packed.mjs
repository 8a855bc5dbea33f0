// Packs the packages as a release does, and checks what is in them.

import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chosen, fillChosen } from './chosen-packages.mjs'
import { lintPackage } from './package-lint.mjs'
import { cliFolder, clusterFolder, nativeFolder, packageFolder, studioFolder } from './paths.mjs'
import { nativeFile, platformFolder, thisPlatform } from './platforms.mjs'
import { CommandFailed, npm } from './process.mjs'

/** What the main package may contain; anything else in the tarball is a mistake. */
const expectedFiles = /^(dist\/.+\.(js|mjs|d\.ts|d\.mts)|package\.json|README\.md|LICENSE)$/

/** The same for the command line. */
const expectedCliFiles = /^(dist\/.+\.js|package\.json|README\.md|LICENSE)$/

/** The same for the studio: its server, and the page as one script and one sheet. */
const expectedStudioFiles =
  /^(dist\/(?:cells|server)\/.+\.(js|d\.ts)|dist\/page\/(index\.html|app\.(js|css)|icon\.svg|licenses\.txt)|package\.json|README\.md|LICENSE)$/

/** The same for clusters. */
const expectedClusterFiles = /^(dist\/.+\.(js|mjs|d\.ts|d\.mts)|native\.js|package\.json|README\.md|LICENSE)$/

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

export const packMain = (project) => packChecked(packageFolder, project, expectedFiles)
export const packStudio = (project) => packChecked(studioFolder, project, expectedStudioFiles)
export const packCli = (project) => packChecked(cliFolder, project, expectedCliFiles)
export const packCluster = (project) => packChecked(clusterFolder, project, expectedClusterFiles)

function packChecked(folder, project, expected) {
  const packed = pack(folder, project)
  refuseUnexpected(packed, expected)
  checkManifest(folder)
  return packed.filename
}

function refuseUnexpected({ filename, files, size }, expected) {
  const unexpected = files.map(({ path }) => path).filter((path) => !expected.test(path))
  if (unexpected.length > 0) throw new CommandFailed(`unexpected in ${filename}: ${unexpected.join(', ')}`)
  console.log(`${filename}: ${files.length} files, ${(size / 1024).toFixed(0)} kB`)
}

/** The package with the native module, as a release fills it. */
export function packPlatform(project) {
  const platform = thisPlatform()
  const folder = join(project, 'platform')
  cpSync(platformFolder(platform), folder, { recursive: true })
  copyFileSync(join(nativeFolder, nativeFile(platform)), join(folder, nativeFile(platform)))
  return packFilled(folder, project)
}

export const packCiphers = (project) => packFilled(chosen.ciphers.folder, project)

/** The package with the native module of a package that has its own. */
export function packChosenPlatform(name, module, project) {
  const folder = join(project, 'platform')
  fillChosen(name, thisPlatform(), module, folder)
  return packFilled(folder, project)
}

function packFilled(folder, project) {
  checkManifest(folder)
  const packed = pack(folder, project)
  console.log(`${packed.filename}: ${(packed.size / 1024).toFixed(0)} kB`)
  return packed.filename
}

function pack(folder, destination) {
  const output = npm(['pack', '--json', '--pack-destination', destination], { cwd: folder, quiet: true })
  const [packed] = JSON.parse(output)
  lintPackage(folder, join(destination, packed.filename))
  return packed
}

function checkManifest(folder) {
  const { name, scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const found = installScripts.filter((script) => scripts[script])
  if (found.length > 0) throw new CommandFailed(`${name} would run ${found.join(', ')} where it is installed`)
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
