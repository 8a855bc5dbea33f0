import type * as members from './members'
import { makeVerbose } from './verbose'

export * from './members'

/** The module. */
export type Sqlite3 = typeof members & { verbose(): Sqlite3 }

/** Makes errors say, from now on, to which call they belong and where it was made. This costs each call a stack trace. */
export function verbose(): Sqlite3 {
  makeVerbose()
  return module.exports
}
