import { count, duration } from '../format.ts'
import type { Histograms } from '../types.ts'

/** The durations of calls: each bar has the calls of twice the time of the bar before. */
export function Histogram({ reads, writes }: Histograms) {
  const used = reads.map((number, i) => number + (writes[i] ?? 0))
  const first = Math.max(0, used.findIndex((number) => number > 0) - 1)
  const last = used.findLastIndex((number) => number > 0) + 1
  if (last === 0) return <p class="faint pad">No call of the program since the first page was opened.</p>
  const most = Math.max(...used)
  const buckets = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return (
    <div class="histogram" role="img" aria-label="times of calls">
      {buckets.map((bucket) => (
        <div
          key={bucket}
          class="bucket"
          title={`under ${duration(2 ** bucket / 1000)}: ${count(reads[bucket] ?? 0)} reads, ${count(writes[bucket] ?? 0)} writes`}
        >
          <div class="bars">
            <span class="writes" style={{ height: `${(100 * (writes[bucket] ?? 0)) / most}%` }} />
            <span class="reads" style={{ height: `${(100 * (reads[bucket] ?? 0)) / most}%` }} />
          </div>
          <span class="edge">{duration(2 ** bucket / 1000)}</span>
        </div>
      ))}
    </div>
  )
}

/** The time that a share of the calls did not exceed, in milliseconds: the upper end of its bar. */
export function quantile(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, number) => sum + number, 0)
  let sum = 0
  for (const [bucket, number] of counts.entries()) {
    sum += number
    if (total > 0 && sum >= share * total) return 2 ** bucket / 1000
  }
  return undefined
}
