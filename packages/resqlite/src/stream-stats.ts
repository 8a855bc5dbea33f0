import type { StreamStats } from './core/live-types'
import { REASONS } from './wire/protocol'

/** How many numbers the native side gives for a live query. */
const NUMBERS = 17

/** Where the native side puts them. */
export const statsNumbers = new Float64Array(NUMBERS)

/** The counters of a live query from the numbers that the native side gave, in its order. */
export function statsOf(numbers: Float64Array): StreamStats {
  const number = (at: number) => numbers[at] as number
  return {
    commits: number(0),
    skippedByTable: number(1),
    skippedByColumn: number(2),
    skippedByKey: number(3),
    requeries: number(4),
    unchanged: number(5),
    emitted: number(6),
    coalesced: number(7),
    rowsPatched: number(8),
    errors: number(9),
    verified: number(10),
    missed: number(11),
    lastReason: REASONS[number(12)] ?? 'everything',
    lastMicros: number(13),
    totalMicros: number(14),
    rows: number(15),
    volatile: number(16) === 1,
  }
}

/** The counters of a live query that has not begun. */
export function noStats(): StreamStats {
  return statsOf(new Float64Array(NUMBERS))
}
