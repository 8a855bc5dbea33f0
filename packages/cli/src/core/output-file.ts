import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathOf, SUFFIXES } from './database.js'
import { UsageError } from './errors.js'

/**
 * Refuses to replace an existing file, unless `overwrite` is true. In any case it refuses the files of the database itself, even if
 * they do not exist yet, and whatever is no regular file: a device, a pipe or a link would be replaced by a file of its name.
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

/**
 * Returns the suffix of a file that belongs to a database: its path is the path of the database and the suffix. Undefined for other
 * files.
 */
function suffixIn(file: string, database: string): string | undefined {
  return ['', ...SUFFIXES].find((suffix) => file === database + suffix)
}

/** Returns the path without links, also for a file that does not exist. */
function realPath(file: string): string {
  if (existsSync(file)) return realpathSync.native(file)
  const folder = dirname(file)
  return existsSync(folder) ? join(realpathSync.native(folder), basename(file)) : resolve(file)
}
