import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { activeSince, loopNow } from '../measure.mjs'

/** Runs `work` once, from as clean a start as a timed sample has: { wall, main } in milliseconds. */
export async function timed(work) {
  await sleep(2)
  globalThis.gc?.({ type: 'minor' })
  const loop = loopNow()
  const start = performance.now()
  await work()
  return { wall: performance.now() - start, main: activeSince(loop) }
}

/** Both numbers of `timed` for one of `count` operations. */
export const perOperation = ({ wall, main }, count) => ({ wall: wall / count, main: main / count })

/** The value below which the given share of the values lie. */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}
