import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Database, type RunResult, type Statement } from '@resqlite/sqlite3'

export type Row = Record<string, unknown>

/** Returns a folder that exists as long as the test. */
export function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-sqlite3-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Opens a database, in memory unless a file is given, and runs a script. It is closed after the test. */
export async function open(
  t: TestContext,
  script = '',
  {
    file = ':memory:',
    mode,
    Class = Database,
  }: { file?: string; mode?: number; Class?: typeof Database } = {},
): Promise<Database> {
  const db = await new Promise<Database>((resolve, reject) => {
    const opened: Database = new Class(file, mode, (error) => (error ? reject(error) : resolve(opened)))
  })
  t.after(() => new Promise((resolve) => db.close(resolve)))
  if (script !== '') await exec(db, script)
  return db
}

/** Calls a method that takes SQL and parameters, and returns what it calls back with. */
function call<T>(target: Database | Statement, method: string, args: readonly unknown[]): Promise<T> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, result: T) => (error ? reject(error) : resolve(result))
    ;(target as unknown as Record<string, (...args: unknown[]) => void>)[method]?.(...args, done)
  })
}

export const exec = (db: Database, script: string) => call<void>(db, 'exec', [script])
export const all = (db: Database | Statement, ...args: unknown[]) => call<Row[]>(db, 'all', args)
export const get = (db: Database | Statement, ...args: unknown[]) => call<Row | undefined>(db, 'get', args)
export const wait = (db: Database) => call<void>(db, 'wait', [])

/** Runs a statement, and returns `lastID` and `changes` of what `this` is in the callback. */
export function run(target: Database | Statement, ...args: unknown[]) {
  return new Promise<{ lastID: number; changes: number }>((resolve, reject) => {
    const done = function (this: RunResult, error: Error | null) {
      if (error) reject(error)
      else resolve({ lastID: this.lastID, changes: this.changes })
    }
    ;(target.run as (...args: unknown[]) => void).call(target, ...args, done)
  })
}

/** A check for `assert.rejects`: the error has what errors of node-sqlite3 have. */
export function like(code: string, errno: number, message: string) {
  return (error: Error & { code?: string; errno?: number }) => {
    if (error.code === code && error.errno === errno && error.message === `${code}: ${message}`) return true
    throw new Error(`expected ${code} ${errno} ${message}, got ${error.code} ${error.errno} ${error.stack}`)
  }
}

export const fileIn = (t: TestContext, name = 'test.db') => join(tempFolder(t), name)
