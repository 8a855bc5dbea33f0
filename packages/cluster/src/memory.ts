import { breakLog, type Check, integer, refused, show } from 'resqlite/seam'
import { name as nodeName } from './checks'
import { type Log, settingsOf } from './log'

/**
 * A log in the memory of this process, for tests: of all threads, until the process ends. It can be broken, to see what a
 * program does then.
 */
export interface MemoryLog extends Log {
  /** Cuts a node off from the log and from the other nodes. */
  cut(node: string): void
  /** Ends {@link MemoryLog.cut}. */
  mend(node: string): void
  /** The next appends of a node are taken, and their answers are lost. */
  loseAnswers(node: string, count: number): void
  /**
   * The last entries are lost, all if there are fewer, which no log must do: nodes that have them stop with
   * `RESQLITE_LOG_DIVERGED`.
   */
  forget(count: number): void
}

/**
 * Returns the log in memory of this name: the same name is the same log.
 *
 * ```ts
 * const log = memory('test 1')
 * const one = await Cluster.open('one.db', { node: 'one', log })
 * const other = await Cluster.open('other.db', { node: 'other', log })
 * ```
 */
export function memory(name: string): MemoryLog {
  if (typeof name !== 'string' || name === '')
    throw refused(`memory: the name of the log must be a string that is not empty, not ${show(name)}`)
  const settings = { kind: 'memory' as const, name }
  return {
    [settingsOf]: settings,
    cut: (node) => breakLog(name, 'cut', checked('cut', 'node', nodeName, node)),
    mend: (node) => breakLog(name, 'mend', checked('mend', 'node', nodeName, node)),
    loseAnswers: (node, count) =>
      breakLog(
        name,
        'loseAnswers',
        checked('loseAnswers', 'node', nodeName, node),
        checked('loseAnswers', 'count', entries, count),
      ),
    forget: (count) => breakLog(name, 'forget', '', checked('forget', 'count', entries, count)),
  }
}

const entries = integer(0, 2 ** 31 - 1)

/** Returns an argument of a method; throws if it is none. */
function checked<T>(method: string, argument: string, check: Check, value: T): T {
  const expected = check(value)
  if (expected === undefined) return value
  throw refused(`memory: ${argument} of ${method} must be ${expected}, not ${show(value)}`)
}
