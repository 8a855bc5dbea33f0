import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
  sqlite: 'b2a06317d0ced87d6665040b9c07c9936e47571b887a2e00a394fd4b42ac5d38',
}

/**
 * Mistakes in the sources: the text to replace, and in how many places behind `after`.
 *
 * 1. If a page cannot be read, they decrypt what the buffer held before. That fails, so an I/O error is reported as damage of
 *    the file, and the connection does not recover.
 * 2. The hook before a change tells an inserted whole number of a REAL column as an INTEGER. SQLite 3.54 has this mended.
 */
const mends = [
  {
    from: 'if (rc == SQLITE_IOERR_SHORT_READ)\n',
    to: 'if (rc != SQLITE_OK)\n',
    after: '/*** Begin of #include "sqlite3mc_vfs.c" ***/',
    places: 2,
  },
  {
    from: `pMem = (sqlite3_value *)columnNullValue();
    }
  }else{
    /* For an UPDATE`,
    to: `pMem = (sqlite3_value *)columnNullValue();
    }else if( p->pTab->aCol
           && p->pTab->aCol[iIdx].affinity==SQLITE_AFF_REAL
           && (pMem->flags & (MEM_Int|MEM_IntReal))
    ){
      sqlite3VdbeMemRealify(pMem);
    }
  }else{
    /* For an UPDATE`,
    after: '\nSQLITE_API int sqlite3_preupdate_new(sqlite3 *db',
    places: 1,
  },
]

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
  const file = join(folder, 'sqlite3.c')
  const mended = mends.reduce(mendSource, readFileSync(file, 'latin1'))
  writeFileSync(file, mended, 'latin1')
  rmSync(archive)
  if (!isThere()) throw new CommandFailed(`the sources in ${folder} are not those that were expected`)
}

function mendSource(text, mend) {
  const at = text.indexOf(mend.after)
  const [before, ...parts] = text.slice(at).split(mend.from)
  if (at < 0 || parts.length !== mend.places)
    throw new CommandFailed('the sources have changed where they are mended')
  return text.slice(0, at) + [before, ...parts].join(mend.to)
}

function digest(algorithm, encoding, bytes) {
  return createHash(algorithm).update(bytes).digest(encoding)
}
