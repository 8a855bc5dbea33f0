import { type ProfileBinding, profileBinding } from './channel/profile-binding'
import type { ProfileCounters } from './core/counters'
import { ResqliteError } from './core/errors'
import { nativeBinding } from './wire/native'

export type { ProfileCounters } from './core/counters'

/** True if the loaded native module has counters. See docs/profiling.md for how to build one. */
export const available: boolean = profileBinding(nativeBinding()) !== undefined

/**
 * Returns the present counters. Native threads count a piece of work when it is done, which may be a moment after its promise
 * was settled.
 *
 * ```ts
 * import { diff, snapshot } from 'resqlite/profile'
 *
 * const before = snapshot()
 * await db.select('SELECT * FROM users')
 * const { completionHandlerUs, rowsDecoded } = diff(before, snapshot())
 * ```
 *
 * Throws a {@link ResqliteError} with the code `RESQLITE_PROFILE` if the native module has no counters.
 */
export function snapshot(): ProfileCounters {
  return JSON.parse(counting('snapshot').profileSnapshot()) as ProfileCounters
}

/**
 * Returns the counts between two snapshots: the differences, or 0 where a {@link reset} in between made the second count
 * smaller. For counters of largest numbers (`Max`), it returns those of the second snapshot.
 */
export function diff(before: ProfileCounters, after: ProfileCounters): ProfileCounters {
  const names = Object.keys(after) as (keyof ProfileCounters)[]
  const since = names.map((name) => [
    name,
    isMaximum(name) ? after[name] : difference(after[name], before[name]),
  ])
  return Object.fromEntries(since) as ProfileCounters
}

/** Sets all counters of the process to 0. Throws like {@link snapshot}. */
export function reset(): void {
  counting('reset').profileReset()
}

function isMaximum(name: string): boolean {
  return /Max(?![a-z])/.test(name)
}

/** Subtracts two counts. Times are whole nanoseconds, so further digits are rounding errors. */
function difference(after: number, before: number): number {
  return Math.max(0, Math.round((after - before) * 1000) / 1000)
}

function counting(operation: string): ProfileBinding {
  const binding = profileBinding(nativeBinding())
  if (binding !== undefined) return binding
  throw new ResqliteError(
    `${operation}: this native module has no counters. Build one with "npm run build -- --profile" in a clone of the ` +
      'repository, and set the environment variable RESQLITE_NATIVE_PATH to its file.',
    'RESQLITE_PROFILE',
  )
}
