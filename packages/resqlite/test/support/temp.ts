import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Database, type OpenOptions } from 'resqlite'
import { guard } from './watchdog'

/** Returns a folder that exists as long as the test. */
export function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** Returns a path in a folder that exists as long as the test. */
export function tempFile(t: TestContext, name = 'test.db'): string {
  return join(tempFolder(t), name)
}

/** Opens a database that is closed after the test. */
export async function openDatabase(t: TestContext, path: string, options?: OpenOptions): Promise<Database> {
  const db = await Database.open(path, options)
  guard(t, db)
  t.after(() => db.close())
  return db
}

/** Opens a new database and runs a script in it. It is closed and removed after the test. */
export async function tempDatabase(t: TestContext, script = '', options?: OpenOptions): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-'))
  const db = await Database.open(join(folder, 'test.db'), options)
  guard(t, db)
  t.after(async () => {
    await db.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  if (script !== '') await db.exec(script)
  return db
}
