// What is compared: builds of the package.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { builtAt, shaOf } from './commit.mjs'
import { root } from './paths.mjs'

const parts = ['package.json', 'dist', 'native']
const isBuild = (folder) => parts.every((part) => existsSync(join(folder, part)))

/**
 * The build that `side` stands for: `{ name, folder }`. It is `.` (this working tree as it was built), a folder with a built
 * package (package.json, dist, native), or a git ref, which is built when it has not been yet.
 */
export function buildOf(side) {
  if (side === '.') return existing(join(root, 'packages', 'resqlite'), 'working tree')
  if (existsSync(join(side, 'package.json'))) return existing(resolve(side), side)
  const sha = shaOf(side)
  return { name: `${side} (${sha.slice(0, 10)})`, folder: builtAt(sha) }
}

function existing(folder, name) {
  if (!isBuild(folder)) throw new Error(`${folder} has no build: ${parts.join(', ')}`)
  return { name, folder }
}
