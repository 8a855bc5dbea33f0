import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { root } from './paths.mjs'
import { CommandFailed, npm, run } from './process.mjs'

/**
 * The npm package that has the sources of SQLite3 Multiple Ciphers 2.4.0 with SQLite 3.53.4, generated with the option that
 * `UPDATE … LIMIT` needs. `sha512` is the digest of the package, `sqlite` that of its mended sqlite3.c.
 */
const source = {
  name: 'better-sqlite3-multiple-ciphers',
  version: '13.0.3',
  sha512: 'UYabM82r1J84TLWc/SszoHs6XopWpl/2HCg3Nui1JUaFXg/VLswzkPowYiRhK/4CftI8dgtikwyZQecMldrGxQ==',
  sqlite: '872328cdd23a65f612b996dc89521a32c3fc50480aed1c36d1a1debcf8859cd8',
}

/** This patch mends mistakes of the sources, and names them. */
const patch = join(root, 'scripts', 'ciphers', 'sqlite3.patch')

const folder = join(root, 'target', 'ciphers-source')

/** A target folder of its own, because cargo keeps one native module, whatever its features are. */
export const ciphersTarget = join(root, 'target', 'ciphers')

/** Fetches and checks the sources unless they are there, and tells the build script of the crate where they are. */
export function prepareCiphers() {
  if (!isThere()) fetchSource()
  process.env.RESQLITE_CIPHERS_SOURCE = folder
  return folder
}

function isThere() {
  try {
    return digest('sha256', 'hex', readFileSync(join(folder, 'sqlite3.c'))) === source.sqlite
  } catch {
    return false
  }
}

function fetchSource() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const { name, version } = source
  npm(['pack', `${name}@${version}`, '--silent', '--pack-destination', folder], { quiet: true })
  const archive = join(folder, `${name}-${version}.tgz`)
  const found = digest('sha512', 'base64', readFileSync(archive))
  if (found !== source.sha512) throw new CommandFailed(`${name} ${version} has another digest: ${found}`)
  run('tar', ['xzf', archive, '--strip-components', '3', 'package/deps/sqlite3'], { cwd: folder })
  run('git', ['apply', `--directory=${relative(root, folder)}`, patch], { cwd: root })
  rmSync(archive)
  if (!isThere()) throw new CommandFailed(`the sources in ${folder} are not those that were expected`)
}

function digest(algorithm, encoding, bytes) {
  return createHash(algorithm).update(bytes).digest(encoding)
}
