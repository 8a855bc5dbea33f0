import assert from 'node:assert/strict'
import type { StreamStats } from 'resqlite'

/** After so many attempts to have a result kept there is a mistake, however busy the machine is. */
export const ROUNDS_MAX = 500

/** What the re-runs of a live query have counted between two looks at its figures. */
export function countedSince(before: StreamStats, now: StreamStats) {
  type Counter = 'reruns' | 'maintained' | 'rowsAsked' | 'wholeUnknownChanges' | 'wholeUndecided'
  const by = (name: Counter) => now[name] - before[name]
  return {
    reruns: by('reruns'),
    maintained: by('maintained'),
    rowsAsked: by('rowsAsked'),
    unknownChanges: by('wholeUnknownChanges'),
    undecided: by('wholeUndecided'),
  }
}

/**
 * Asserts that re-runs looked at changed rows only, and that what was kept told the result of all but a few of them. How many
 * found something kept is left open: on a busy machine a thread may wait so long that keeping is put off, or a step given up.
 */
export function assertMaintained(counted: ReturnType<typeof countedSince>, { undecided = 0 } = {}): void {
  const { maintained, unknownChanges } = counted
  const holds = maintained > 0 && unknownChanges === 0 && counted.undecided <= undecided
  assert.ok(holds, JSON.stringify(counted))
}
