// The times for which clients waited for the next acknowledgement after faults.

/** The shares of some times in milliseconds, in seconds; null where there are none. */
export function gapsOf(times) {
  const sorted = times.map((time) => time / 1_000).sort((a, b) => a - b)
  const at = (share) => {
    const gap = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
    return gap === undefined ? null : Number(gap.toFixed(2))
  }
  return { count: sorted.length, median: at(0.5), p90: at(0.9), longest: at(1) }
}
