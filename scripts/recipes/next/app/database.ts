import { Database } from 'resqlite'

declare global {
  var appDatabase: Promise<Database> | undefined
}

/** One database for all routes, also after a reload in development. */
export function database(): Promise<Database> {
  globalThis.appDatabase ??= open()
  return globalThis.appDatabase
}

async function open(): Promise<Database> {
  const db = await Database.open(process.env.DATABASE ?? 'app.db')
  await db.exec('CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY, title TEXT)')
  return db
}
