import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathOf, SUFFIXES } from './database.js'
import { UsageError } from './errors.js'

/**
 * Refuses to replace a file that is there, unless that is asked for; and in any case the files of the database itself, also those
 * that are not there yet, and what is no regular file: of a device, a pipe or a link, only the name would be left.
 */
export function checkOutput(file: string, overwrite: boolean, database: string): void {
  const suffix = suffixIn(realPath(file), realPath(pathOf(database)))
  if (suffix === '') throw new UsageError(`${file} is the database itself`)
  if (suffix !== undefined) throw new UsageError(`${file} is the name of a file of the database`)
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there === undefined) return
  if (!there.isFile()) throw new UsageError(`${file} is no regular file`)
  if (!overwrite) throw new UsageError(`${file} exists; --overwrite replaces it`)
}

/** The suffix of a file that belongs to a database: its path is that of the database and the suffix. Undefined for other files. */
function suffixIn(file: string, database: string): string | undefined {
  return ['', ...SUFFIXES].find((suffix) => file === database + suffix)
}

/** The path without links, also of a file that is not there. */
function realPath(file: string): string {
  if (existsSync(file)) return realpathSync.native(file)
  const folder = dirname(file)
  return existsSync(folder) ? join(realpathSync.native(folder), basename(file)) : resolve(file)
}
