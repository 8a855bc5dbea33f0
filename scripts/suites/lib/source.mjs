import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { packageFolder, root } from '../../lib/paths.mjs'
import { capture, npm } from '../../lib/process.mjs'

/**
 * Takes `paths` of a builder's repository at a tag, and gives back the folder.
 *
 * @param {{ name: string, url: string, tag: string, commit?: string, paths: string[] }} source `commit`: what the tag stands
 *   for, where RESQLITE_SUITE_SOURCE may lack the tag
 */
export function takeSource({ name, url, tag, commit = tag, paths }) {
  const folder = join(root, 'target', 'suites', `${name}-${tag}`)
  const marker = join(folder, '.complete')
  const taken = JSON.stringify(paths)
  if (textOf(marker) === taken) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const given = process.env.RESQLITE_SUITE_SOURCE
  const repository = given ?? clone(url, tag, join(folder, '.git'))
  const archive = join(folder, 'source.tar')
  const git = ['-c', 'safe.directory=*', '-C', repository]
  capture('git', [...git, 'archive', '--output', archive, given === undefined ? tag : commit, ...paths])
  capture('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  if (paths.includes('package.json')) renameSync(join(folder, 'package.json'), theirs(folder))
  writeFileSync(marker, taken)
  return folder
}

/** The package.json of sources that {@link takeSource} took. */
export function manifestOf(folder) {
  return JSON.parse(readFileSync(theirs(folder), 'utf8'))
}

/** Installs these packages in a folder, in place of all that the builder's developers need, unless it has them already. */
export function installPackages(folder, manifest) {
  const marker = join(folder, '.installed')
  const text = JSON.stringify({ private: true, ...manifest }, undefined, 2)
  if (textOf(marker) === text) return
  rmSync(marker, { force: true })
  writeFileSync(join(folder, 'package.json'), text)
  npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  writeFileSync(marker, text)
}

/** Installs resqlite as npm would, so that it uses the builder that is tested. */
export function installResqlite(folder) {
  const installed = join(folder, 'node_modules', 'resqlite')
  rmSync(installed, { recursive: true, force: true })
  cpSync(join(packageFolder, 'package.json'), join(installed, 'package.json'))
  cpSync(join(packageFolder, 'dist'), join(installed, 'dist'), { recursive: true })
  symlinkSync(join(packageFolder, 'native'), join(installed, 'native'), 'junction')
}

/** The package.json of the builder's developers, which leaves the name to that of {@link installPackages}. */
const theirs = (folder) => join(folder, 'their-package.json')

const textOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

function clone(url, tag, folder) {
  capture('git', ['clone', '--quiet', '--bare', '--depth', '1', '--branch', tag, url, folder])
  return folder
}
