import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './paths.mjs'
import { ciphersFile, platformFolder } from './platforms.mjs'

/** The package that users install for encryption: it depends on that of their platform. */
export const ciphersFolder = join(root, 'packages', 'ciphers')

/**
 * Fills a folder with the package of a platform with encryption. Its manifest is made from that of the package without, and
 * its native module is in `modules`. Returns the manifest.
 */
export function fillCiphers(platform, modules, folder, version) {
  const [file, licence] = [ciphersFile(platform), 'LICENSE-SQLite3MultipleCiphers']
  const plain = JSON.parse(readFileSync(join(platformFolder(platform), 'package.json'), 'utf8'))
  const manifest = {
    ...plain,
    name: plain.name.replace('/', '/ciphers-'),
    version: version ?? plain.version,
    description: plain.description.replace('resqlite', '@resqlite/ciphers'),
    repository: { ...plain.repository, directory: 'packages/ciphers' },
    main: file,
    files: [file, licence],
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(modules, file), join(folder, file))
  copyFileSync(join(ciphersFolder, licence), join(folder, licence))
  return manifest
}
