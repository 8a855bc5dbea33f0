import { needNode22 } from './node.mjs'
import { installPackages, manifestOf, takeSource } from './source.mjs'

export const tag = '3.3.0'

/** The packages that the tests import, besides those that Knex does. */
const needed = [
  ...[
    'chai',
    'chai-as-promised',
    'chai-subset-in-order',
    'cli-testlab',
    'mocha',
    'rimraf',
    'sinon',
    'sinon-chai',
  ],
  'source-map-support',
]

/** Knex's sources with its integration tests, and what they need besides: `drivers`. */
export function knexFolder(name, drivers) {
  needNode22('better-sqlite3')
  const folder = takeSource({
    name,
    url: 'https://github.com/knex/knex.git',
    tag,
    commit: 'e25d54bcb707714a17f5a5744eba5c4246bb4d1d',
    paths: ['lib', 'test', 'bin', 'knex.js', 'package.json'],
  })
  const { dependencies, devDependencies, version, main } = manifestOf(folder)
  const versions = Object.fromEntries(needed.map((name) => [name, devDependencies[name]]))
  const all = { ...dependencies, ...versions, ...drivers }
  installPackages(folder, { name: 'knex', version, main, dependencies: all })
  return folder
}
