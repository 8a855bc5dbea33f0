import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
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
  if (existsSync(join(folder, '.complete'))) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const given = process.env.RESQLITE_SUITE_SOURCE
  const repository = given ?? clone(url, tag, join(folder, '.git'))
  const archive = join(folder, 'source.tar')
  const git = ['-c', 'safe.directory=*', '-C', repository]
  capture('git', [...git, 'archive', '--output', archive, given === undefined ? tag : commit, ...paths])
  capture('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  writeFileSync(join(folder, '.complete'), '')
  return folder
}

/** Installs these packages in a folder, in place of all that the builder's developers need. */
export function installPackages(folder, manifest) {
  if (existsSync(join(folder, '.installed'))) return
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, ...manifest }, undefined, 2))
  npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  writeFileSync(join(folder, '.installed'), '')
}

/** Installs resqlite as npm would, so that it uses the builder that is tested. */
export function installResqlite(folder) {
  const installed = join(folder, 'node_modules', 'resqlite')
  rmSync(installed, { recursive: true, force: true })
  cpSync(join(packageFolder, 'package.json'), join(installed, 'package.json'))
  cpSync(join(packageFolder, 'dist'), join(installed, 'dist'), { recursive: true })
  symlinkSync(join(packageFolder, 'native'), join(installed, 'native'), 'junction')
}

function clone(url, tag, folder) {
  capture('git', ['clone', '--quiet', '--bare', '--depth', '1', '--branch', tag, url, folder])
  return folder
}
