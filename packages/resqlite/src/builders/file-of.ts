import { resolve } from 'node:path'

/**
 * Returns the absolute path that a file name of SQLite or a `file:` URL means. All spellings of one path give the same
 * result.
 *
 * ```ts
 * fileOf('file:///data/app.db?mode=ro') // '/data/app.db'
 * ```
 */
export const fileOf = (name: string): string => resolve(name.replace(/^file:(?:\/\/)?|\?.*$/gi, ''))
