import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { SUFFIXES } from './database.js'
import { UsageError } from './errors.js'

/**
 * Refuses to replace a file that is there, unless that is asked for; and in any case the database itself, and what is no regular
 * file: of a device, a pipe or a link, only the name would be left.
 */
export function checkOutput(file: string, overwrite: boolean, database: string): void {
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there === undefined) return
  if (existsSync(file) && existsSync(database) && belongsTo(realpathSync(file), realpathSync(database)))
    throw new UsageError(`${file} is the database itself`)
  if (!there.isFile()) throw new UsageError(`${file} is no regular file`)
  if (!overwrite) throw new UsageError(`${file} exists; --overwrite replaces it`)
}

function belongsTo(file: string, database: string): boolean {
  return ['', ...SUFFIXES].some((suffix) => file === database + suffix)
}
