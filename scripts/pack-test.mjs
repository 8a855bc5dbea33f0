// Installs the packed packages in an empty project, as a user would get them, and runs a program of each module
// system on them.

import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  inProject,
  installIn,
  packChosenPlatform,
  packCiphers,
  packCli,
  packCluster,
  packLibsql,
  packMain,
  packPlatform,
  packSqlite3,
  packStudio,
} from './lib/packed.mjs'
import { cliFolder, nativeFolder, packageFolder, root, testModule } from './lib/paths.mjs'
import { ciphersFile, thisPlatform } from './lib/platforms.mjs'
import { CommandFailed, capture, npm } from './lib/process.mjs'
import { otherReleases, subpathPrograms } from './lib/subpath-programs.mjs'

const body = `
  if (process.env.RESQLITE_TEST_PUBLISHED && available) throw new Error('the published native module counts where time goes')
  const db = await Database.open('notes.db')
  await db.exec('DROP TABLE IF EXISTS notes; CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
  await db.execute('INSERT INTO notes(text) VALUES (?)', ['packed'])
  console.log(JSON.stringify(await db.select('SELECT * FROM notes')))
  await db.close()
`
const programs = {
  'program.mjs': `import { Database } from 'resqlite'\nimport { available } from 'resqlite/profile'\n${body}`,
  'program.cjs': `const { Database } = require('resqlite')\nconst { available } = require('resqlite/profile')\nasync function main() {${body}}\nmain()`,
}

const clusterBody = `
  nats({ servers: ['nats://127.0.0.1'], stream: 'app' })
  etcd({ endpoints: ['http://127.0.0.1'], prefix: 'app' })
  const log = memory('packed')
  const open = (node) => Cluster.open(node + '.db', { node, log })
  const nodes = await Promise.all(['one', 'two', 'three'].map(open))
  await nodes[0].exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
  await nodes[1].execute('INSERT INTO notes(text) VALUES (?)', ['packed'])
  console.log(JSON.stringify(await nodes[2].select('SELECT * FROM notes', [], { fresh: true })))
  await Promise.all(nodes.map((node) => node.close()))
  for (const node of ['one', 'two', 'three']) rmSync(node + '.db')
`
const clusterNames = { '': 'Cluster', '/memory': 'memory', '/nats': 'nats', '/etcd': 'etcd' }
const clusterImports = (line) =>
  Object.entries(clusterNames).map(([path, name]) => line(name, `@resqlite/cluster${path}`))
const clusterPrograms = {
  'cluster.mjs': `import { rmSync } from 'node:fs'\n${clusterImports((name, from) => `import { ${name} } from '${from}'\n`).join('')}${clusterBody}`,
  'cluster.cjs': `const { rmSync } = require('node:fs')\n${clusterImports((name, from) => `const { ${name} } = require('${from}')\n`).join('')}async function main() {${clusterBody.replace("memory('packed')", "memory('packed, too')")}}\nmain()`,
}

/** The packages that the subpaths need. They come from where they are installed here, because npm would ask the registry. */
const peers = [
  ...['react', 'react-dom', 'vue', 'svelte', 'solid-js', '@tanstack'],
  ...['kysely', 'drizzle-orm', 'knex', '@prisma'],
]

/** Opens a studio, and asks it for the page and, with the token, for the tables. */
const studio = `
  import { openStudio } from '@resqlite/studio'
  const { url, close } = await openStudio({ file: 'notes.db' })
  const { origin, hash } = new URL(url)
  const page = await fetch(origin)
  if (!(await page.text()).includes('app.js')) throw new Error('no page')
  const headers = { authorization: 'Bearer ' + hash.slice(1), 'content-type': 'application/json' }
  const asked = { sql: 'SELECT * FROM notes' }
  const answer = await fetch(origin + '/api/query', { method: 'POST', headers, body: JSON.stringify(asked) })
  const [[id, text]] = (await answer.json()).rows
  console.log(JSON.stringify([{ id: Number(id.slice(1)), text: text.slice(1) }]))
  await close()
`

/** A dependency that asks for sqlite3 by its name, in each module system, and TypeORM's way to it. */
const sqlite3 = `
  import { createRequire } from 'node:module'
  import { openDatabaseAsync } from '@resqlite/sqlite3/expo'
  import { OPEN_READONLY, Database as Named } from '@resqlite/sqlite3'
  import sqlite3 from 'sqlite3'
  const required = createRequire(import.meta.url)('sqlite3')
  if (required.verbose().Database !== sqlite3.Database) throw new Error('two modules')
  if (new Named('notes.db', OPEN_READONLY).mode !== 1) throw new Error('no named exports')
  const expo = await openDatabaseAsync('notes.db')
  await expo.closeAsync()
  const db = new sqlite3.Database('notes.db')
  db.all('SELECT * FROM notes', (error, rows) => {
    console.log(JSON.stringify(error ?? rows))
    db.close()
  })
`

const withKey = (source) => source.replace("open('notes.db')", "open('notes.db', { key: 'a passphrase' })")

/** Packs, checks, installs and runs. Throws a CommandFailed that says what is wrong. */
export function packTest() {
  return inProject((project) => {
    installIn(project, [packMain(project), packPlatform(project), packStudio(project), packSqlite3(project)])
    for (const [file, source] of Object.entries(programs)) runProgram(project, file, source)
    runProgram(project, 'studio.mjs', studio)
    symlinkSync(
      join(project, 'node_modules', '@resqlite', 'sqlite3'),
      join(project, 'node_modules', 'sqlite3'),
      'junction',
    )
    runProgram(project, 'sqlite3.mjs', sqlite3)
    const refused = tryProgram(project, 'key.mjs', withKey(programs['program.mjs']))
    if (!refused.includes('npm install @resqlite/ciphers')) throw new CommandFailed(`a key gave: ${refused}`)
    console.log('key.mjs: refused, with advice')
    runLibsql(project)
    runSubpaths(project)
  })
}

/** The same with the packages for encryption, and a key. */
export function packCiphersTest() {
  return inProject((project) => {
    const module = join(nativeFolder, ciphersFile(thisPlatform()))
    const platform = packChosenPlatform('ciphers', module, project)
    installIn(project, [packMain(project), packCiphers(project), platform])
    for (const [file, source] of Object.entries(programs)) runProgram(project, file, withKey(source))
    const start = readFileSync(join(project, 'notes.db')).subarray(0, 16).toString('latin1')
    if (start.startsWith('SQLite')) throw new CommandFailed('the database is not encrypted')
  })
}

/** Three nodes, from the packages as they are installed: the native module is that of the tests. */
export function packClusterTest() {
  return inProject((project) => {
    const platform = packChosenPlatform('cluster', testModule, project)
    installIn(project, [packMain(project), packCluster(project), platform])
    for (const [file, source] of Object.entries(clusterPrograms)) runProgram(project, file, source)
  })
}

/** The command line, as it is installed beside the library. */
export function packCliTest() {
  return inProject((project) => {
    const tarballs = [packMain(project), packPlatform(project), packCli(project)]
    installIn(project, tarballs, installedDependencies(cliFolder))
    const resqlite = (...args) =>
      npm(['exec', '--offline', '--', 'resqlite', ...args], { cwd: project, quiet: true })
    writeFileSync(join(project, 'notes.csv'), 'id,text\n1,packed\n')
    resqlite('import', 'notes.db', 'notes', 'notes.csv', '--create')
    const output = resqlite('query', 'notes.db', 'SELECT * FROM notes', '--format', 'ndjson').trim()
    if (output !== '{"id":1,"text":"packed"}') throw new CommandFailed(`resqlite query printed: ${output}`)
    console.log('resqlite: imported, queried')
  })
}

/** Dependencies from where they are installed here: npm would ask the registry for them. */
function installedDependencies(folder) {
  const require = createRequire(join(folder, 'package.json'))
  const { dependencies } = require('./package.json')
  const found = Object.keys(dependencies)
    .filter((name) => name !== 'resqlite')
    .map((name) => [name, require.resolve.paths(name).find((path) => existsSync(join(path, name)))])
  return Object.fromEntries(found.map(([name, path]) => [name, `file:${join(path, name)}`]))
}

/** Runs a program with each subpath that the package exports. */
function runSubpaths(project) {
  const require = createRequire(join(packageFolder, 'package.json'))
  const link = (name, installed = name) => {
    const modules = require.resolve.paths(installed).find((path) => existsSync(join(path, installed)))
    const at = join(project, 'node_modules', name)
    rmSync(at, { force: true })
    symlinkSync(join(modules, installed), at, 'junction')
  }
  for (const name of peers) link(name)
  runExample(project, link)
  const paths = Object.keys(require('./package.json').exports).map((path) => path.slice('./'.length))
  for (const path of paths.filter((path) => path !== '' && path !== 'package.json')) {
    const file = `${path.replace('/', '-')}.mjs`
    const others = Object.entries(otherReleases[path] ?? {})
    for (const [name, installed] of others) link(name, installed)
    if (subpathPrograms[path] === undefined) throw new CommandFailed(`no program uses resqlite/${path}`)
    writeFileSync(join(project, file), subpathPrograms[path])
    const output = capture(process.execPath, [file], { cwd: project }).trim()
    if (output !== 'done') throw new CommandFailed(`${file} printed: ${output}`)
    for (const [name] of others) link(name)
  }
  console.log(`a program each: ${paths.join(' ').trim()}`)
}

/** Packages that import `@libsql/client` get what is installed under that name. */
function runLibsql(project) {
  const tarball = packLibsql(project)
  npm(['install', '--offline', '--no-package-lock', `@libsql/client@file:./${tarball}`], {
    cwd: project,
    quiet: true,
  })
  const body = `
    const client = createClient({ url: 'file:notes.db' })
    client.execute('SELECT * FROM notes').then(({ rows }) => {
      console.log(JSON.stringify(rows))
      client.close()
    })`
  runProgram(project, 'libsql.mjs', `import { createClient } from '@libsql/client'\n${body}`)
  runProgram(project, 'libsql.cjs', `const { createClient } = require('@libsql/client')\n${body}`)
}

/** Runs the example for Drizzle 0.45 as a user would who has copied it. */
function runExample(project, link) {
  copyFileSync(join(root, 'examples', 'orm', 'drizzle-0.45.js'), join(project, 'guest-book.mjs'))
  link('drizzle-orm', 'drizzle-orm-0.45')
  const output = capture(process.execPath, ['guest-book.mjs'], { cwd: project }).trim().split('\n')
  link('drizzle-orm')
  const expected = [
    'live: nothing',
    'live: Ada wrote “First!” hello',
    'live: Grace wrote “A bug, taped in” bugs,found',
    'Ada: 1, Grace: 1',
    'SQLITE_CONSTRAINT',
    'left: 1',
  ]
  if (!isDeepStrictEqual(output, expected))
    throw new CommandFailed(`guest-book.mjs printed: ${output.join('\n')}`)
  console.log('guest-book.mjs: ran on Drizzle 0.45')
}

/** The output of a program that fails. */
function tryProgram(project, file, source) {
  writeFileSync(join(project, file), source)
  return spawnSync(process.execPath, [file], { cwd: project, encoding: 'utf8' }).stderr
}

function runProgram(project, file, source) {
  writeFileSync(join(project, file), source)
  const output = capture(process.execPath, [file], { cwd: project }).trim()
  if (output !== '[{"id":1,"text":"packed"}]') throw new CommandFailed(`${file} printed: ${output}`)
  console.log(`${file}: opened, wrote, read`)
}
