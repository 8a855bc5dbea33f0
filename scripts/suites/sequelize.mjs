import { existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { installPackages, manifestOf, takeSource } from './lib/source.mjs'
import { driverVersion, runOnBoth } from './lib/sqlite3.mjs'

const version = '6.37.8'

/** The packages that the tests import, besides those that Sequelize does. */
const needed = [
  ...[
    'chai',
    'chai-as-promised',
    'chai-datetime',
    'cls-hooked',
    'delay',
    'esbuild',
    'fs-jetpack',
    'js-combinatorics',
    'module-alias',
    'node-hook',
  ],
  ...['p-map', 'p-props', 'p-settle', 'p-timeout', 'sinon', 'sinon-chai', 'source-map-support'],
]

/** Sequelize's integration tests, as they run for sqlite. */
export async function suite() {
  const folder = takeSource({
    name: 'sequelize',
    url: 'https://github.com/sequelize/sequelize.git',
    tag: `v${version}`,
    commit: 'cb7f99ad05de56137672ab95586359ff6ceba004',
    paths: ['test', 'package.json'],
  })
  const { dependencies, devDependencies } = manifestOf(folder)
  const versions = Object.fromEntries(needed.map((name) => [name, devDependencies[name]]))
  const ours = { mocha: '10.8.2', sequelize: version, sqlite3: driverVersion }
  const all = { ...dependencies, ...versions, ...ours }
  installPackages(folder, { name: 'sequelize-suite', dependencies: all })
  // The tests look for its dialects where its sources are built.
  const lib = join(folder, 'lib')
  if (!existsSync(lib)) symlinkSync(join('node_modules', 'sequelize', 'lib'), lib)
  const others = 'test/integration/dialects/@(mariadb|mssql|mysql|oracle|postgres|snowflake)/**'
  const how = ['-r', './test/registerEsbuild', '--timeout', '30000', '--ignore', others]
  // It fails or not, depending on time: it expects that one of two transactions that write at the same time gives up.
  const unsteady = ['--invert', '--fgrep', 'fails with SQLITE_BUSY when retry.match is changed']
  const args = [...how, ...unsteady, 'test/integration/**/*.test.[tj]s']
  return {
    title: `Sequelize ${version}, integration tests for sqlite`,
    runs: runOnBoth({ folder, args, env: { DIALECT: 'sqlite' } }),
    explained: {},
    expected: { own: 1739, ours: 1739 },
  }
}
