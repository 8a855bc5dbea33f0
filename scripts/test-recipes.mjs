// npm run test:recipes [-- name…]: installs the tools of docs/deploying.md and docs/start from npm beside the packed packages,
// builds what the pages tell to build, and runs it. Takes minutes, most of them for the tools.

import { deepEqual } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from './cluster/server.mjs'
import { inProject, packMain, packPlatform } from './lib/packed.mjs'
import { root } from './lib/paths.mjs'
import { CommandFailed, capture, npm, runAsProgram } from './lib/process.mjs'

/** The output of program.mjs. */
const printed = '[{"id":1,"title":"tea"}]'

/** The shell commands of the page, by their first word. */
const page = readFileSync(join(root, 'docs', 'deploying.md'), 'utf8')
const commands = Object.fromEntries(
  [...page.matchAll(/^```sh\n(.*)\n```$/gm)].map(([, line]) => [line.split(' ')[0], line.split(' ')]),
)

const recipes = {
  node: (project) => prints(project, ['node', 'program.mjs']),
  esbuild: (project) => bundles(project, commands.esbuild, 'esbuild.mjs'),
  rollup: (project) => bundles(project, ['rollup', '--config', 'rollup.config.mjs'], 'rollup.mjs'),
  webpack: (project) => bundles(project, ['webpack', '--config', 'webpack.config.mjs'], 'webpack.mjs'),
  vite: (project) => bundles(project, ['vite', 'build', '--emptyOutDir', 'false'], 'vite.mjs'),
  nft: tracesAlone,
  typescript: (project) => tool(project, ['tsc', '-p', 'typescript']),
  jest: (project) => tool(project, ['jest', '--rootDir', 'jest']),
  deno: (project) => prints(project, commands.deno),
  bun: (project) => prints(project, ['bun', 'program.mjs']),
  next,
  'start-node': (project) => servesTasks(project, ['node', 'node/server.js']),
  'fastify-react': fastifyReact,
  'hono-bun': (project) => servesTasks(project, ['bun', 'hono-bun/server.ts']),
  electron,
}

await runAsProgram(import.meta.url, (args) => {
  const known = Object.keys(recipes)
  const unknown = args.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new CommandFailed(`no recipe ${unknown}; there are ${known}`)
  return testRecipes(args.length > 0 ? args : known)
})

function testRecipes(names) {
  return inProject(async (project) => {
    cpSync(join(root, 'scripts', 'recipes'), project, {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    })
    const tarballs = [packMain(project), packPlatform(project)].map((file) => `./${file}`)
    npm(['ci', '--no-audit', '--no-fund'], { cwd: project, quiet: true })
    npm(['install', '--no-audit', '--no-fund', '--no-package-lock', ...tarballs], {
      cwd: project,
      quiet: true,
    })
    for (const name of names) {
      await recipes[name](project)
      console.log(`${name}: works`)
    }
  })
}

/** Runs a tool that the project has, or Node.js, in a folder. Returns its output. */
function tool(cwd, command) {
  return capture(...programOf(cwd, command), { cwd, env: { NEXT_TELEMETRY_DISABLED: '1' } })
}

function programOf(cwd, [name, ...args]) {
  return [name === 'node' ? process.execPath : join(cwd, 'node_modules', '.bin', name), args]
}

function prints(project, command) {
  const output = tool(project, command).trim()
  if (output !== printed) throw new CommandFailed(`${command.join(' ')} printed: ${output}`)
}

/** The bundle runs, and the library is not in it. */
function bundles(project, command, file) {
  tool(project, command)
  const built = join('built', file)
  if (readFileSync(join(project, built), 'utf8').includes('RESQLITE_'))
    throw new CommandFailed(`${built} has the library in it`)
  prints(project, ['node', built])
}

/** The program runs where only the files are that were traced. */
function tracesAlone(project) {
  const files = tool(project, ['node', 'nft.mjs']).trim().split('\n')
  const alone = join(project, 'traced')
  for (const file of files) {
    mkdirSync(join(alone, file, '..'), { recursive: true })
    cpSync(join(project, file), join(alone, file))
  }
  prints(alone, ['node', 'program.mjs'])
}

/** Next.js draws the page on the server. */
async function next(project) {
  tool(project, ['next', 'build', 'next'])
  const alone = join(project, 'standalone')
  cpSync(join(project, 'next', '.next', 'standalone'), alone, { recursive: true })
  await servesTasks(alone, ['node', 'next/server.js'], '<p>connecting</p>')
}

async function fastifyReact(project) {
  tool(project, ['vite', 'build', 'fastify-react'])
  await servesTasks(project, ['node', 'fastify-react/server.js'], '<div id="root"></div>')
}

/** Electron is not run: its types say whether the main process calls it well, and the bundle whether the page is complete. */
function electron(project) {
  tool(project, ['tsc', '-p', 'electron'])
  tool(project, ['esbuild', 'electron/page.js', '--bundle', '--outdir=electron/dist'])
}

/** A server draws a page, follows a live query, and writes. */
async function servesTasks(cwd, command, drawn) {
  const [port] = await freePorts(1) // Next.js takes 3000 where it is told 0
  const env = { DATABASE: join(cwd, `${port}.db`), PORT: String(port), HOSTNAME: '127.0.0.1' }
  const [program, args] = programOf(cwd, command)
  const server = spawn(program, args, { cwd, env: { ...process.env, ...env } })
  try {
    const url = await listening(server)
    const html = drawn && (await (await fetch(url)).text())
    if (drawn && !html.includes(drawn)) throw new CommandFailed(`${command.join(' ')} drew: ${html}`)
    const events = addedBy(await fetch(`${url}/events`))
    const { value: before } = await events.next()
    const headers = { 'content-type': 'application/json' }
    const written = await fetch(`${url}/tasks`, { method: 'POST', headers, body: '{"title":"tea"}' })
    const task = await written.json()
    const { value: after } = await events.next()
    deepEqual([before, after], [[], [{ id: 1, title: 'tea' }]])
    deepEqual(task, after[0])
  } finally {
    server.kill('SIGKILL') // it would wait for the events to end
  }
}

/** The address at which a server answers, as it prints it itself. */
async function listening(server) {
  let output = ''
  for await (const chunk of server.stdout) {
    output += chunk
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)
    if (found && (output.includes('Ready') || !output.includes('Next.js'))) return found[0]
  }
  throw new CommandFailed(`the server ended: ${output}`)
}

/** The rows that each event of a live query adds. */
async function* addedBy(response) {
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (text + chunk).split('\n')
    text = lines.pop()
    for (const line of lines.filter((line) => line.startsWith('data:')))
      yield JSON.parse(line.slice('data:'.length)).added.map(({ row }) => row)
  }
}
