import { CommanderError } from 'commander'
import { SqliteError } from 'resqlite'
import type { Context } from './core/context.js'
import { Exit, Unsuccessful, UsageError } from './core/errors.js'
import { programFor } from './program.js'
import { say } from './terminal/output.js'

/** Runs a command line and returns the exit code. Whatever went wrong has been printed. */
export async function run(args: readonly string[], context: Context): Promise<number> {
  try {
    await programFor(context).parseAsync(args, { from: 'user' })
    return Exit.OK
  } catch (error) {
    return exitCode(error as Error & { code?: string }, context)
  }
}

function exitCode(error: Error & { code?: string }, { stderr, signal }: Context): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? Exit.OK : Exit.USAGE
  if (error instanceof Unsuccessful) return Exit.FAILED
  // Whoever read the output has seen enough, as `head` has.
  if (error.code === 'EPIPE' || signal.reason?.code === 'EPIPE') return Exit.OK
  if (signal.aborted) return Exit.INTERRUPTED
  say(stderr, `resqlite: ${error.message}${placeOf(error)}`)
  return error instanceof UsageError || error.code === 'RESQLITE_PARAMETER' ? Exit.USAGE : Exit.FAILED
}

/** Where SQLite found the error in the SQL, if it tells. */
function placeOf(error: Error): string {
  if (!(error instanceof SqliteError) || error.sql === undefined || error.offset === undefined) return ''
  const before = error.sql.slice(0, error.offset).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1) as string).length + 1} of the SQL)`
}
