import { Database, type OpenOptions } from 'resqlite'

/** What SQLite puts behind the name of a database for its other files. */
export const SUFFIXES = ['-wal', '-shm', '-journal']

/** Runs `body` with a database, and closes it in any case. The file must exist, unless the options say otherwise. */
export async function withDatabase<T>(
  file: string,
  options: OpenOptions,
  body: (db: Database) => Promise<T>,
): Promise<T> {
  const db = await Database.open(file, { fileMustExist: true, ...options })
  try {
    return await body(db)
  } finally {
    await db.close()
  }
}
