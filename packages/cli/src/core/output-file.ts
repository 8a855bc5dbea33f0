import { existsSync, realpathSync } from 'node:fs'
import { UsageError } from './errors.js'

/** Refuses to write into a file that is there, unless that is asked for, and into the database itself in any case. */
export function checkOutput(file: string, overwrite: boolean, database: string): void {
  if (!existsSync(file)) return
  if (existsSync(database) && belongsTo(realpathSync(file), realpathSync(database)))
    throw new UsageError(`${file} is the database itself`)
  if (!overwrite) throw new UsageError(`${file} exists; --overwrite replaces it`)
}

function belongsTo(file: string, database: string): boolean {
  return ['', '-wal', '-shm', '-journal'].some((suffix) => file === database + suffix)
}
