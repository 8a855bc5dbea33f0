import { resolve } from 'node:path'

/**
 * The absolute path that a file name of SQLite or a `file:` URL means, so that all spellings of one are the same.
 *
 * ```ts
 * fileOf('file:///data/app.db?mode=ro') // '/data/app.db'
 * ```
 */
export const fileOf = (name: string): string => resolve(name.replace(/^file:(?:\/\/)?|\?.*$/gi, ''))
