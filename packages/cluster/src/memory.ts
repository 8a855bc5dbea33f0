import { breakLog, type Check, integer, refused, show } from 'resqlite/seam'
import { name as nodeName } from './checks'
import { type Log, settingsOf } from './log'

/**
 * A log in the memory of this process, for tests. All threads share it until the process ends. It can be broken on purpose, to test
 * how a program reacts.
 */
export interface MemoryLog extends Log {
  /** Cuts a node off from the log and from the other nodes. */
  cut(node: string): void
  /** Ends {@link MemoryLog.cut}. */
  mend(node: string): void
  /** Accepts the next `count` appends of a node, but loses their answers. */
  loseAnswers(node: string, count: number): void
  /**
   * Loses the last `count` entries, or all if there are fewer. A real log must never do this: nodes that have the entries stop with
   * `RESQLITE_LOG_DIVERGED`.
   */
  forget(count: number): void
}

/**
 * Returns the log in memory with this name. The same name returns the same log.
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

/** Returns an argument of a method. Throws if the check does not accept it. */
function checked<T>(method: string, argument: string, check: Check, value: T): T {
  const expected = check(value)
  if (expected === undefined) return value
  throw refused(`memory: ${argument} of ${method} must be ${expected}, not ${show(value)}`)
}
