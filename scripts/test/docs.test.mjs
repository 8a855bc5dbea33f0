// The programs in README and in the guides run, and those of README have no type errors. Blocks of a page that are plain `js` or
// `ts` are one program. A block `js server` is a program of its own behind the plain ones before it. It ends when it listens; if
// it handles SIGTERM, it gets that signal. The blocks `js extension` are a program of their own, which runs where the extension
// is installed, and so are the blocks `js drizzle-0.45`, with that release. Plain `jsx` is React's, and runs, too. Blocks whose packages are not installed here (`js orm`), or that need a
// page (`jsx react`), are only parsed. A block with the path of a file (`js scripts/recipes/…`) is that file, which has its own tests.
// Those of clusters run on the log in memory.

import { equal } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { clusterFolder, packageFolder, root, sqlite3Folder, testModule, toolPath } from '../lib/paths.mjs'

let folder

/** The binary of sqlite-vec. */
const vectors = `sqlite-vec-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** The packages that the programs import. */
const packages = [
  ...['drizzle-orm', 'drizzle-orm-0.45', 'knex', 'kysely', 'sqlite-vec', vectors],
  ...['react', 'react-dom', 'vue', '@tanstack'],
]

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'resqlite-docs-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(packageFolder, join(folder, 'node_modules', 'resqlite'), 'junction')
  mkdirSync(join(folder, 'node_modules', '@resqlite'))
  symlinkSync(clusterFolder, join(folder, 'node_modules', '@resqlite', 'cluster'), 'junction')
  symlinkSync(sqlite3Folder, join(folder, 'node_modules', '@resqlite', 'sqlite3'), 'junction')
  const require = createRequire(join(packageFolder, 'package.json'))
  for (const name of packages) {
    const modules = require.resolve.paths(name).find((path) => existsSync(join(path, name)))
    if (modules !== undefined)
      symlinkSync(join(modules, name), join(folder, 'node_modules', name), 'junction')
  }
})

afterEach(() => {
  for (const file of readdirSync(folder)) if (/\.db/.test(file)) rmSync(join(folder, file))
})

after(() => rmSync(folder, { recursive: true, force: true }))

const native = createRequire(import.meta.url)(join(packageFolder, 'dist', 'wire', 'native.js'))
const canEncrypt = native.nativeBinding().canEncrypt()

const inDocs = (name) => `docs/${name}.md`

const pages = [
  ...['README.md', 'packages/resqlite/README.md', 'docs/using.md', 'docs/live-queries.md'],
  ...['docs/cheat-sheet.md', 'docs/operations.md'],
  ...['transactions', 'migrations', 'http', 'errors', 'commits', 'durability', 'settings'].map(inDocs),
  'docs/from-better-sqlite3.md',
  ...['start/node', 'start/next', 'start/fastify-react', 'start/hono-bun', 'start/electron'].map(inDocs),
  ...['docs/sse.md', 'docs/screens.md', 'docs/deploying.md', 'docs/many-files.md'],
  ...['docs/feeds.md', 'docs/cluster.md', 'docs/litestream.md', 'packages/cluster/README.md'],
  ...['adapters', 'drizzle', 'knex', 'kysely', 'libraries', 'libsql', 'prisma', 'sqlite3'].map(
    (name) => `docs/builders/${name}.md`,
  ),
  'packages/sqlite3/README.md',
  ...(canEncrypt ? ['docs/encryption.md'] : []),
]

for (const page of pages) {
  const blocks = blocksOf(page)

  test(`the program of ${page} runs`, () => {
    generatePrisma(readFileSync(join(root, page), 'utf8'))
    for (const { kind, code } of blocks)
      if (/^[\w-]+\.mjs$/.test(kind)) writeFileSync(join(folder, kind), code)
    run(plain(blocks))
  })

  const extension = blocks.flatMap(({ kind, code }) => (kind === 'extension' ? code : [])).join('\n')
  if (extension !== '') {
    test(`the program with an extension of ${page} runs`, async (t) => {
      if (!existsSync(join(folder, 'node_modules', vectors))) return t.skip(`${vectors} is not installed`)
      run(`import { Database } from 'resqlite'\n${extension}`)
    })
  }

  const stable = blocks.flatMap(({ kind, code }) => (kind === 'drizzle-0.45' ? code : [])).join('\n')
  if (stable !== '') {
    test(`the program with Drizzle 0.45 of ${page} runs`, () => {
      const hooks = join(packageFolder, 'build', 'test', 'support', 'drizzle-0.45.mjs')
      writeFileSync(join(folder, 'program.mjs'), stable)
      runNode(['--import', pathToFileURL(hooks).href, 'program.mjs'])
    })
  }

  for (const [index, { kind, code, typed }] of blocks.entries()) {
    if (kind === 'server')
      test(`server ${index} of ${page} listens`, () => {
        const end = code.includes("'SIGTERM'") ? "process.emit('SIGTERM')" : 'process.exit(0)'
        const server = code.replace('.listen(3000)', `.listen(0, () => ${end})`)
        run(`${plain(blocks.slice(0, index))}\n${server}`)
      })
    if (kind.includes('/'))
      test(`block ${index} of ${page} is ${kind}`, () => equal(typed, readFileSync(join(root, kind), 'utf8')))
    if (['orm', 'react', 'etcd'].includes(kind))
      test(`block ${index} of ${page} is valid`, () => equal(syntaxErrors(code), ''))
  }
}

test('the programs of both READMEs have no type errors', () => {
  const programs = { 'README.mts': 'README.md', 'package.mts': 'packages/resqlite/README.md' }
  for (const [program, page] of Object.entries(programs)) {
    const typed = blocksOf(page).flatMap(({ kind, typed }) => (kind === '' ? typed : []))
    writeFileSync(join(folder, program), typed.join('\n'))
  }
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
  const modules = ['--target', 'esnext', '--module', 'nodenext']
  const how = ['--strict', '--noEmit', '--skipLibCheck', ...modules, ...types]
  runNode([toolPath('tsc', 'tsc'), ...how, ...Object.keys(programs)])
})

/** Makes what `prisma generate` makes of the models of a page. The client that it makes does first what `prisma db push` does. */
function generatePrisma(text) {
  const models = [...text.matchAll(/^model .*?^}$/gms)].join('\n')
  if (models === '') return
  const support = pathToFileURL(join(packageFolder, 'build', 'test', 'support', 'prisma.mjs')).href
  const generated = join(folder, 'generated', 'prisma')
  mkdirSync(generated, { recursive: true })
  writeFileSync(join(generated, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(
    join(generated, 'client.js'),
    `import { PrismaResqlite } from 'resqlite/prisma'
import { clientClass, push } from '${support}'
const models = ${JSON.stringify(models)}
await push(new PrismaResqlite({ url: 'app.db' }), models)
export const PrismaClient = clientClass(models)`,
  )
}

/** The blocks of JavaScript and TypeScript; `kind` is the word behind the language. */
function blocksOf(page) {
  const text = readFileSync(join(root, page), 'utf8')
  const blocks = [...text.matchAll(/^```(jsx|js|tsx|ts|html) ?(\S*)\n(.*?)^```$/gms)]
  return blocks
    .filter(([, language, kind]) => language !== 'html' || kind !== '') // only a file is compared
    .map(([, language, kind, code]) => ({
      kind,
      typed: code,
      isJsx: language === 'jsx',
      code: language.startsWith('ts') ? compiled(code) : code,
    }))
}

/** Without types and JSX. */
function compiled(code) {
  const compilerOptions = {
    jsx: ts.JsxEmit.ReactJSX,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
  }
  return ts.transpileModule(code, { compilerOptions, fileName: 'block.tsx' }).outputText
}

function plain(blocks) {
  const program = blocks.filter(({ kind }) => kind === '')
  const code = program.map(({ code }) => code).join('\n')
  return program.some(({ isJsx }) => isJsx) ? compiled(code) : code
}

function run(code) {
  const isOfCluster = code.includes("'@resqlite/cluster'")
  writeFileSync(join(folder, 'program.mjs'), isOfCluster ? inMemory(code) : code)
  runNode(['program.mjs'], isOfCluster ? { RESQLITE_NATIVE_PATH: testModule } : {})
}

/** Runs node in the folder, and fails with its output if it does. */
function runNode(args, env = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, ...env },
  })
  equal(status, 0, stdout + stderr)
}

/** On another log: the one that needs no servers. */
function inMemory(code) {
  const ofServers = "import { nats } from '@resqlite/cluster/nats'"
  const memory = "import { memory } from '@resqlite/cluster/memory'"
  const ofMemory = `${code.includes(memory) ? '' : memory}\nconst nats = ({ stream }) => memory(stream)`
  return code.replace(ofServers, ofMemory)
}

function syntaxErrors(code) {
  const options = { jsx: ts.JsxEmit.Preserve, target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 }
  const { diagnostics } = ts.transpileModule(code, {
    compilerOptions: options,
    fileName: 'block.tsx',
    reportDiagnostics: true,
  })
  return formatted(diagnostics)
}

function formatted(diagnostics) {
  return ts.formatDiagnostics(diagnostics, {
    getCurrentDirectory: () => '',
    getCanonicalFileName: (name) => name,
    getNewLine: () => '\n',
  })
}
