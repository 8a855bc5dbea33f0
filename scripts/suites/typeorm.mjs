import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '../lib/process.mjs'
import { installPackages, manifestOf, takeSource } from './lib/source.mjs'
import { driverVersion, runOnBoth } from './lib/sqlite3.mjs'

const tag = '0.3.31'

/** The packages that the tests import, besides those that TypeORM does. */
const needed = [
  ...['chai', 'chai-as-promised', 'class-transformer', 'mocha', 'rimraf', 'sinon', 'sinon-chai'],
  ...['source-map-support', 'ts-node', 'typescript'],
]

const options = {
  ...{ target: 'es2021', module: 'commonjs', noCheck: true, skipLibCheck: true, types: [] },
  ...{ experimentalDecorators: true, emitDecoratorMetadata: true, importHelpers: true },
  ...{ useDefineForClassFields: false, allowSyntheticDefaultImports: true, resolveJsonModule: true },
  ...{ outDir: 'build/compiled', rootDir: '.' },
}

/** As in TypeORM's sample: the relations of queries are loaded in two ways. */
const databases = ['join', 'query'].map((relationLoadStrategy, at) => ({
  skip: false,
  name: at === 0 ? 'sqlite' : 'sqlite-2',
  type: 'sqlite',
  database: `./temp/sqlitedb-${at + 1}.db`,
  logging: false,
  relationLoadStrategy,
}))

const compiled = join('build', 'compiled', 'test')

/** Tests of the command that makes projects, and of attached files: where one is attached, all have it that share the file. */
const leftOut = [
  ...['github-issues/8975/**', 'functional/multi-database/**'],
  'functional/table-inheritance/single-table/database-option-inherited/**',
]

const explained = {
  'database schema > column types > sqlite all types should work correctly - persist and hydrate':
    'it expects wrong digits for an integer beyond 2^53; resqlite gives it as bigint, see its option integers',
}

/** TypeORM's own tests, as they run for sqlite. */
export async function suite() {
  const folder = takeSource({
    name: 'typeorm',
    url: 'https://github.com/typeorm/typeorm.git',
    tag,
    paths: ['src', 'test', 'extra', 'sample', 'package.json'],
  })
  prepare(folder)
  rmSync(join(folder, 'temp'), { recursive: true, force: true })
  mkdirSync(join(folder, 'temp'))
  const setup = ['--timeout', '90000', '--file', join(compiled, 'utils', 'test-setup.js')]
  const ignored = leftOut.flatMap((pattern) => ['--ignore', `${compiled}/${pattern}`])
  return {
    title: `TypeORM ${tag}, tests for sqlite`,
    runs: runOnBoth({ folder, args: [...setup, ...ignored, `${compiled}/**/*.test.js`] }),
    explained,
    expected: { own: 2478, ours: 2477, both: 9 },
  }
}

function prepare(folder) {
  const { dependencies, devDependencies, version } = manifestOf(folder)
  const versions = Object.fromEntries(needed.map((name) => [name, devDependencies[name]]))
  const all = { ...dependencies, ...versions, sqlite3: driverVersion }
  installPackages(folder, { name: 'typeorm', version, dependencies: all })
  for (const place of [folder, join(folder, 'build', 'compiled')]) {
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'ormconfig.json'), JSON.stringify(databases))
  }
  if (existsSync(join(folder, compiled))) return
  const include = ['sample', 'src', 'test', 'extra']
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include }))
  runTool('tsc', 'tsc', ['-p', folder])
}
