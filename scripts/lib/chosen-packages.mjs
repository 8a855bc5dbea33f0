import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clusterFolder, root } from './paths.mjs'
import { ciphersFile, clusterFile, platformFolder } from './platforms.mjs'

const licence = 'LICENSE-SQLite3MultipleCiphers'

/** The packages that bring native modules of their own: users install one beside resqlite, and it those of their platforms. */
export const chosen = {
  ciphers: { folder: join(root, 'packages', 'ciphers'), file: ciphersFile, besides: [licence] },
  cluster: { folder: clusterFolder, file: clusterFile, besides: [] },
}

/**
 * Fills a folder with the package of a platform, such as `@resqlite/ciphers-linux-x64-gnu`. Its manifest is made from that of
 * the package without, and its native module is `module`. Returns the manifest.
 */
export function fillChosen(name, platform, module, folder, version) {
  const { folder: own, file: fileOf, besides } = chosen[name]
  const file = fileOf(platform)
  const plain = JSON.parse(readFileSync(join(platformFolder(platform), 'package.json'), 'utf8'))
  const manifest = {
    ...plain,
    name: plain.name.replace('/', `/${name}-`),
    version: version ?? plain.version,
    description: plain.description.replace('resqlite', `@resqlite/${name}`),
    repository: { ...plain.repository, directory: `packages/${name}` },
    main: file,
    files: [file, ...besides],
  }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(module, join(folder, file))
  for (const other of besides) copyFileSync(join(own, other), join(folder, other))
  return manifest
}
