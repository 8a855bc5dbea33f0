import { Database, type OpenOptions } from 'resqlite'
import { UsageError } from './errors.js'

/** The suffixes that SQLite adds to the name of a database for its other files. */
export const SUFFIXES = ['-wal', '-shm', '-journal']

/** Returns the path of a database. Its name may be a URL, which is read as the library reads it: `file:app.db` is relative. */
export function pathOf(name: string): string {
  if (!/^file:/i.test(name)) return name
  const [, host = '', encoded = ''] = /^file:(?:\/\/([^/?]*))?([^?]*)/i.exec(name) ?? []
  // On Windows, the slash before the letter of a drive belongs to the URL.
  const local = process.platform === 'win32' ? encoded.replace(/^\/(?=[A-Za-z]:)/, '') : encoded
  try {
    if (!name.includes('#') && ['', 'localhost'].includes(host)) return decodeURIComponent(local)
  } catch {
    // The text cannot be decoded as a URL.
  }
  throw new UsageError(
    "the URL of a database is file:name or file:///folder/name, with %23 for '#' and %25 for '%'",
  )
}

/** Returns whether a name is a URL with parameters besides the path. */
export function hasParameters(name: string): boolean {
  return /^file:.*\?/is.test(name)
}

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
