import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Database } from 'resqlite'

/** The folder of the package. */
export const packageFolder = fileURLToPath(new URL('../..', import.meta.url))

/** The program. */
export const bin = join(packageFolder, 'dist', 'bin.js')

/** A folder that is removed after the tests of the file. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-cli-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the program. `ended` resolves with what it wrote and its exit code; `signal` where a signal killed it. */
export function start(args, { input, env = {}, program = bin, command = [process.execPath, program] } = {}) {
  const [file, ...before] = command
  const child = spawn(file, [...before, ...args], {
    env: { ...process.env, NO_COLOR: undefined, FORCE_COLOR: undefined, ...env },
  })
  const result = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8').on('data', (text) => {
      result[name] += text
    })
  }
  child.stdin.on('error', () => {})
  if (input !== undefined) child.stdin.end(input)
  const ended = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ ...result, code, signal }))
  })
  return { child, result, ended }
}

/** Runs the program to its end where no file may be larger than so many blocks of 512 bytes. POSIX only. */
export function limited(blocks, args) {
  const script = `trap '' XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`
  return start(args, { input: '', command: ['sh', '-c', script, process.execPath, bin] }).ended
}

/** Resolves once the stdout of a program that runs fulfils a condition; rejects if it ends before. */
export async function until({ child, result, ended }, condition) {
  const over = ended.then((outcome) => {
    if (!condition(outcome.stdout)) throw new Error(`ended with: ${JSON.stringify(outcome)}`)
  })
  const met = new Promise((resolve) => {
    const look = () => condition(result.stdout) && resolve()
    child.stdout.on('data', look)
    look()
  })
  await Promise.race([met, over])
}

/** Makes a database with a script, and returns its path. */
export async function database(folder, name, script = '') {
  const path = join(folder, name)
  const db = await Database.open(path)
  await db.exec(script)
  await db.close()
  return path
}

/** The rows of a query, as arrays. */
export async function rowsOf(path, sql) {
  const db = await Database.open(path, { fileMustExist: true })
  try {
    return await db.select(sql, [], { arrays: true })
  } finally {
    await db.close()
  }
}
