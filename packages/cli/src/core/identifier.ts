import { UsageError } from './errors.js'

/** A name as SQL writes it. Only a NUL cannot be in it. */
export function quoted(name: string): string {
  if (name.includes('\0')) throw new UsageError('a name of a table or column must not have a NUL character')
  return `"${name.replaceAll('"', '""')}"`
}

/** A form that is equal for all names that SQLite takes for the same: the letters A to Z have no case. */
export function foldedName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
