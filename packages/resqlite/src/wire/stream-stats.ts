import { STREAM_COUNTERS, type StreamStats } from '../core/counters'
import { REASONS } from './protocol'

/** The array into which the native side writes the counters of a live query. */
export const statsNumbers = new Float64Array(STREAM_COUNTERS.length)

/** Returns the counters of a live query from the numbers that the native side wrote. */
export function statsOf(numbers: Float64Array): StreamStats {
  const stats = {} as Record<(typeof STREAM_COUNTERS)[number], unknown>
  for (let at = 0; at < numbers.length; at++) {
    stats[STREAM_COUNTERS[at] as keyof StreamStats] = numbers[at]
  }
  stats.lastReason = REASONS[stats.lastReason as number]
  stats.volatile = stats.volatile === 1
  return stats as StreamStats
}

/** Returns the counters of a live query that has not begun. */
export function noStats(): StreamStats {
  return statsOf(new Float64Array(STREAM_COUNTERS.length))
}
