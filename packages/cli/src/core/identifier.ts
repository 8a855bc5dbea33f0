import { UsageError } from './errors.js'

/** Quotes a name for SQL. Only a NUL is not allowed in it. */
export function quoted(name: string): string {
  if (name.includes('\0')) throw new UsageError('a name of a table or column must not have a NUL character')
  return `"${name.replaceAll('"', '""')}"`
}

/** Returns a form that is equal for all names that SQLite treats as the same: case does not count for the letters A to Z. */
export function foldedName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
