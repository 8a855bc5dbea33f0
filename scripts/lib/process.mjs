import { spawnSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { root, toolPath } from './paths.mjs'

/** A command that did not succeed. Its output has been shown already. */
export class CommandFailed extends Error {}

/** Runs `main` when node was started with the module of this URL; prints what failed. */
export async function runAsProgram(url, main) {
  // Node.js gives modules the real path, and argv the one that was typed, which may lead through a link.
  if (realpathSync(process.argv[1]) !== fileURLToPath(url)) return
  try {
    await main(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

/** Runs a command in the repository with its output shown, and throws when it fails. Nothing reads our stdin. */
export function run(command, args, { cwd = root, env = {} } = {}) {
  const result = spawn(command, args, { cwd, env, stdio: ['ignore', 'inherit', 'inherit'] })
  if (result.status !== 0)
    throw new CommandFailed(`${printable(command, args)} ended with ${outcome(result)}`)
}

/**
 * Runs a command and gives back what it wrote to stdout. Its stderr is shown as it comes with `showErrors`, and
 * otherwise, like stdout, only when the command fails.
 */
export function capture(command, args, { cwd = root, env = {}, showErrors = false } = {}) {
  const stdio = ['ignore', 'pipe', showErrors ? 'inherit' : 'pipe']
  const result = spawn(command, args, { cwd, env, stdio, encoding: 'utf8' })
  if (result.status !== 0) {
    if (!showErrors) process.stderr.write(`${result.stdout}${result.stderr}`)
    throw new CommandFailed(`${printable(command, args)} ended with ${outcome(result)}`)
  }
  return result.stdout
}

/** Runs a command line tool that is an installed package. */
export function runTool(packageName, command, args, options) {
  run(process.execPath, [toolPath(packageName, command), ...args], options)
}

/** Runs npm: the very one that started this script, if one did. */
export function npm(args, { quiet = false, ...options } = {}) {
  const execute = quiet ? capture : run
  const own = process.env.npm_execpath
  if (own?.endsWith('.js')) return execute(process.execPath, [own, ...args], options)
  return execute(process.platform === 'win32' ? 'npm.cmd' : 'npm', args, options)
}

/** Runs cargo, which must be there already: we do not install compilers on anybody's machine. */
export function cargo(args, options) {
  run('cargo', args, options)
}

function spawn(command, args, { env, ...options }) {
  const result = spawnSync(command, args, {
    ...options,
    env: { ...process.env, ...env },
    // Windows starts .cmd files only through its shell.
    shell: process.platform === 'win32' && command.endsWith('.cmd'),
    maxBuffer: 64 * 1024 * 1024,
  })
  if (command === 'cargo' && result.error?.code === 'ENOENT')
    throw new CommandFailed(
      'cargo was not found. resqlite is built from source here: install Rust (https://rustup.rs) and a C compiler, then try again.',
    )
  if (result.error) throw new CommandFailed(`${command} could not be started: ${result.error.message}`)
  return result
}

function printable(command, args) {
  return [command, ...args].join(' ').replaceAll(`${root}/`, '')
}

function outcome({ status, signal }) {
  return signal ? `signal ${signal}` : `exit code ${status}`
}
