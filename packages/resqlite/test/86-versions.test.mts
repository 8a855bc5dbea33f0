// What is installed beside the package: each release of a query builder can be, and a subpath says which one it needs.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempFolder } from './support/temp.js'

const require = createRequire(import.meta.url)
const root = dirname(require.resolve('resqlite/package.json'))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** A project with the package and others: by the name of a folder that is installed here, or by the text of a module. */
function project(
  t: TestContext,
  packages: Record<string, { folder?: string; version?: string; module?: string }>,
) {
  const folder = tempFolder(t)
  const modules = join(folder, 'node_modules')
  cpSync(join(root, 'package.json'), join(modules, 'resqlite', 'package.json'))
  cpSync(join(root, 'dist'), join(modules, 'resqlite', 'dist'), { recursive: true })
  symlinkSync(join(root, 'native'), join(modules, 'resqlite', 'native'), 'junction')
  for (const [name, { folder: installed, version, module = '' }] of Object.entries(packages)) {
    const at = join(modules, name)
    if (installed !== undefined) {
      symlinkSync(installedAt(installed), at, 'junction')
      continue
    }
    mkdirSync(join(at, 'dist'), { recursive: true })
    writeFileSync(join(at, 'package.json'), JSON.stringify({ name, version, main: 'dist/index.js' }))
    writeFileSync(join(at, 'dist', 'index.js'), module)
  }
  return (program: string) => {
    writeFileSync(join(folder, 'program.mjs'), program)
    const { stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], { cwd: folder, encoding: 'utf8' })
    return stdout + stderr
  }
}

function installedAt(name: string): string {
  return require.resolve
    .paths(name)
    ?.map((folder) => join(folder, name))
    .find(existsSync) as string
}

// G389
test('no release of another package is refused where this one is installed', () => {
  const { peerDependencies, peerDependenciesMeta } = manifest
  for (const name of Object.keys(peerDependencies)) {
    assert.equal(peerDependencies[name], '*', name)
    assert.equal(peerDependenciesMeta[name].optional, true, name)
  }
})

// G389
test('resqlite/drizzle names the release that it needs', (t) => {
  const run = project(t, { 'drizzle-orm': { folder: 'drizzle-orm-0.45' } })
  for (const program of [
    "import 'resqlite/drizzle'",
    "import { drizzle, live, migrate } from 'resqlite/drizzle'",
  ]) {
    assert.match(
      run(program),
      /here is 0\.45\.\d+: npm install drizzle-orm@1\.0\.0-rc\.5, or import resqlite\/libsql\/drizzle/,
    )
  }
})

test('import and require of resqlite/libsql/drizzle give the same names', (t) => {
  const program = `
    import { createRequire } from 'node:module'
    import * as imported from 'resqlite/libsql/drizzle'
    console.log(Object.keys(imported).filter((name) => !/default|module/.test(name)).sort().join())
    console.log(Object.keys(createRequire(import.meta.url)('resqlite/libsql/drizzle')).sort().join())`
  const names = 'drizzle,live,migrate\n'
  assert.equal(project(t, { 'drizzle-orm': { folder: 'drizzle-orm-0.45' } })(program), names + names)
})

// G389
test('resqlite/libsql/drizzle names the subpath for Drizzle 1', (t) => {
  const run = project(t, { 'drizzle-orm': { folder: 'drizzle-orm' } })
  assert.match(
    run("import 'resqlite/libsql/drizzle'"),
    /for drizzle-orm 0\.45; for 1\..* import resqlite\/drizzle/,
  )
})

// G389
test('resqlite/kysely runs on Kysely 0.28', (t) => {
  const run = project(t, { kysely: { folder: 'kysely-0.28' } })
  const program = `
    import { Kysely } from 'kysely'
    import { Database } from 'resqlite'
    import { ResqliteDialect } from 'resqlite/kysely'
    const kysely = new Kysely({ dialect: new ResqliteDialect({ database: await Database.open(':memory:') }) })
    await kysely.schema.createTable('t').addColumn('a', 'integer').execute()
    await kysely.transaction().execute((trx) => trx.insertInto('t').values({ a: 7 }).execute())
    console.log(JSON.stringify(await kysely.selectFrom('t').selectAll().execute()))
    await kysely.destroy()`
  assert.equal(run(program), '[{"a":7}]\n')
})

const classes = ['SqliteAdapter', 'SqliteIntrospector', 'SqliteQueryCompiler']
const refused = {
  kysely: {
    version: '0.27.6',
    module: `${classes.map((name) => `exports.${name} = class {}`).join(';')}; exports.CompiledQuery = { raw: () => ({}) }`,
    says: /needs Kysely 0\.28 or later: npm install kysely@latest/,
  },
  knex: { version: '2.5.1', module: '', says: /needs Knex 3, not 2\.5\.1: npm install knex@latest/ },
  '@prisma/driver-adapter-utils': {
    version: '6.19.3',
    module: '',
    says: /needs Prisma 7, not 6\.19\.3: npm install/,
  },
}

for (const [name, { says, ...installed }] of Object.entries(refused)) {
  const subpath = name.startsWith('@prisma') ? 'prisma' : name
  test(`resqlite/${subpath} refuses a release that is too old, and says what to install`, (t) => {
    assert.match(project(t, { [name]: installed })(`import 'resqlite/${subpath}'`), says)
  })
}
