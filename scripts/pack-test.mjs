// Installs the packed packages in an empty project, as a user would get them, and runs a program of each module
// system on them.

import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chosen, fillChosen } from './lib/chosen-packages.mjs'
import { lintPackage } from './lib/package-lint.mjs'
import { cliFolder, nativeFolder, packageFolder, studioFolder, testModule } from './lib/paths.mjs'
import { ciphersFile, nativeFile, platformFolder, thisPlatform } from './lib/platforms.mjs'
import { CommandFailed, capture, npm } from './lib/process.mjs'
import { subpathPrograms } from './lib/subpath-programs.mjs'

/** What the main package may contain; anything else in the tarball is a mistake. */
const expectedFiles = /^(dist\/.+\.(js|mjs|d\.ts|d\.mts)|package\.json|README\.md|LICENSE)$/

/** The same for the command line. */
const expectedCliFiles = /^(dist\/.+\.js|package\.json|README\.md|LICENSE)$/

/** The same for the studio: its server, and the page as one script and one sheet. */
const expectedStudioFiles =
  /^(dist\/(?:cells|server)\/.+\.(js|d\.ts)|dist\/page\/(index\.html|app\.(js|css)|icon\.svg|licenses\.txt)|package\.json|README\.md|LICENSE)$/

/** The same for clusters. */
const expectedClusterFiles = /^(dist\/.+\.(js|mjs|d\.ts|d\.mts)|native\.js|package\.json|README\.md|LICENSE)$/

/** Scripts that npm would run on the machine of somebody who installs the package. */
const installScripts = ['preinstall', 'install', 'postinstall', 'prepare']

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

/** What the subpaths need. npm would ask the registry for them, so they come from where they are installed here. */
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

const withKey = (source) => source.replace("open('notes.db')", "open('notes.db', { key: 'a passphrase' })")

/** Packs, checks, installs and runs. Throws a CommandFailed that says what is wrong. */
export function packTest() {
  inProject((project) => {
    installIn(project, [packMain(project), packPlatform(project), packStudio(project)])
    for (const [file, source] of Object.entries(programs)) runProgram(project, file, source)
    runProgram(project, 'studio.mjs', studio)
    const refused = tryProgram(project, 'key.mjs', withKey(programs['program.mjs']))
    if (!refused.includes('npm install @resqlite/ciphers')) throw new CommandFailed(`a key gave: ${refused}`)
    console.log('key.mjs: refused, with advice')
    runSubpaths(project)
  })
}

/** The same with the packages for encryption, and a key. */
export function packCiphersTest() {
  inProject((project) => {
    const module = join(nativeFolder, ciphersFile(thisPlatform()))
    const [ciphers, platform] = packChosen(project, 'ciphers', module)
    installIn(project, [packMain(project), ciphers.filename, platform])
    for (const [file, source] of Object.entries(programs)) runProgram(project, file, withKey(source))
    const start = readFileSync(join(project, 'notes.db')).subarray(0, 16).toString('latin1')
    if (start.startsWith('SQLite')) throw new CommandFailed('the database is not encrypted')
  })
}

/** Three nodes, from the packages as they are installed: the native module is that of the tests. */
export function packClusterTest() {
  inProject((project) => {
    const [cluster, platform] = packChosen(project, 'cluster', testModule)
    refuseUnexpected(cluster, expectedClusterFiles)
    installIn(project, [packMain(project), cluster.filename, platform])
    for (const [file, source] of Object.entries(clusterPrograms)) runProgram(project, file, source)
  })
}

/** The command line, as it is installed beside the library. */
export function packCliTest() {
  inProject((project) => {
    checkManifest(cliFolder)
    const packed = pack(cliFolder, project)
    refuseUnexpected(packed, expectedCliFiles)
    installIn(
      project,
      [packMain(project), packPlatform(project), packed.filename],
      installedDependencies(cliFolder),
    )
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

function inProject(work) {
  const project = mkdtempSync(join(tmpdir(), 'resqlite-pack-'))
  try {
    work(project)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

function packMain(project) {
  const packed = pack(packageFolder, project)
  refuseUnexpected(packed, expectedFiles)
  checkManifest(packageFolder)
  return packed.filename
}

function packStudio(project) {
  const packed = pack(studioFolder, project)
  refuseUnexpected(packed, expectedStudioFiles)
  checkManifest(studioFolder)
  return packed.filename
}

function refuseUnexpected({ filename, files, size }, expected) {
  const unexpected = files.map(({ path }) => path).filter((path) => !expected.test(path))
  if (unexpected.length > 0) throw new CommandFailed(`unexpected in ${filename}: ${unexpected.join(', ')}`)
  console.log(`${filename}: ${files.length} files, ${(size / 1024).toFixed(0)} kB`)
}

/** The package with the native module, as a release fills it. */
function packPlatform(project) {
  const platform = thisPlatform()
  const folder = join(project, 'platform')
  cpSync(platformFolder(platform), folder, { recursive: true })
  copyFileSync(join(nativeFolder, nativeFile(platform)), join(folder, nativeFile(platform)))
  return packFilled(folder, project)
}

/** A package with native modules of its own, and that of this platform with this module. */
function packChosen(project, name, module) {
  const { folder } = chosen[name]
  checkManifest(folder)
  const platform = join(project, 'platform')
  fillChosen(name, thisPlatform(), module, platform)
  return [pack(folder, project), packFilled(platform, project)]
}

function packFilled(folder, project) {
  checkManifest(folder)
  const packed = pack(folder, project)
  console.log(`${packed.filename}: ${(packed.size / 1024).toFixed(0)} kB`)
  return packed.filename
}

function pack(folder, destination) {
  const output = npm(['pack', '--json', '--pack-destination', destination], { cwd: folder, quiet: true })
  const [packed] = JSON.parse(output)
  lintPackage(folder, join(destination, packed.filename))
  return packed
}

function checkManifest(folder) {
  const { name, scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const found = installScripts.filter((script) => scripts[script])
  if (found.length > 0) throw new CommandFailed(`${name} would run ${found.join(', ')} where it is installed`)
}

function installIn(project, tarballs, overrides = {}) {
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'pack-test', private: true, overrides }),
  )
  const files = tarballs.map((file) => `./${file}`)
  npm(['install', '--offline', '--ignore-scripts', '--no-package-lock', ...files], {
    cwd: project,
    quiet: true,
  })
}

/** Runs a program with each subpath that the package exports. */
function runSubpaths(project) {
  const require = createRequire(join(packageFolder, 'package.json'))
  for (const name of peers) {
    const modules = require.resolve.paths(name).find((path) => existsSync(join(path, name)))
    symlinkSync(join(modules, name), join(project, 'node_modules', name), 'junction')
  }
  const paths = Object.keys(require('./package.json').exports).map((path) => path.slice('./'.length))
  for (const path of paths.filter((path) => path !== '' && path !== 'package.json')) {
    const file = `${path}.mjs`
    if (subpathPrograms[path] === undefined) throw new CommandFailed(`no program uses resqlite/${path}`)
    writeFileSync(join(project, file), subpathPrograms[path])
    const output = capture(process.execPath, [file], { cwd: project }).trim()
    if (output !== 'done') throw new CommandFailed(`${file} printed: ${output}`)
  }
  console.log(`a program each: ${paths.join(' ').trim()}`)
}

/** What a program that fails prints. */
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
