import { CommanderError } from 'commander'
import { SqliteError } from 'resqlite'
import type { Context } from './core/context.js'
import { Exit, Unsuccessful, UsageError } from './core/errors.js'
import { programFor } from './program.js'
import { flushed, say } from './terminal/output.js'

type Failure = Error & { code?: string }

/** Runs a command line and returns the exit code. Any error has been printed by then. */
export async function run(args: readonly string[], context: Context): Promise<number> {
  const failure = await failureOf(args, context)
  await flushed(context.stdout)
  const { signal, stderr } = context
  if (signal.reason instanceof Error && signal.reason.name !== 'AbortError')
    return codeWithoutOutput(signal.reason, context)
  if (failure === undefined) return Exit.OK
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? Exit.OK : Exit.USAGE
  if (failure instanceof Unsuccessful) return Exit.FAILED
  if (signal.aborted) return Exit.INTERRUPTED
  say(stderr, `resqlite: ${forTerminal(failure.message)}${placeOf(failure)}`)
  const isUsage = failure instanceof UsageError || failure.code === 'RESQLITE_PARAMETER'
  return isUsage ? Exit.USAGE : Exit.FAILED
}

/** Keeps SQL that begins with a comment from looking like an option. The added space changes only the column of an error. */
function notOption(argument: string): string {
  return /^--(\s|[^=\n]*\n)/.test(argument) ? ` ${argument}` : argument
}

/** Wordings of the library that are for programs, and their replacements for a terminal. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/; use exec for a script$/, '; give one at a time'],
  [/; use execute for a statement that writes$/, ''],
  [/ \(os error \d+\)/g, ''],
]

function forTerminal(message: string): string {
  return WORDS.reduce((text, [program, terminal]) => text.replace(program, terminal), message)
}

async function failureOf(args: readonly string[], context: Context): Promise<Failure | undefined> {
  try {
    await programFor(context).parseAsync(args.map(notOption), { from: 'user' })
    return undefined
  } catch (error) {
    return error as Failure
  }
}

/** Returns the exit code if stdout accepts nothing any more. */
function codeWithoutOutput({ code, message }: Failure, { stderr }: Context): number {
  // The reader of the output has read enough, like `head`.
  if (code === 'EPIPE') return Exit.OK
  // The terminal is gone, and its user, too.
  if (code === 'EIO') return Exit.INTERRUPTED
  say(stderr, `resqlite: the output cannot be written: ${message}`)
  return Exit.FAILED
}

/** Returns the place in the SQL at which SQLite found the error, if SQLite reports it. */
function placeOf(error: Error): string {
  if (!(error instanceof SqliteError) || error.sql === undefined || error.offset === undefined) return ''
  const before = error.sql.slice(0, error.offset).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1) as string).length + 1} of the SQL)`
}
