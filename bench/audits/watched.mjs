// Whether the live queries of a burst did what its scenario says. Nothing here needs counters of a profile build.
import { setTimeout as sleep } from 'node:timers/promises'
import { assertNothingLost, countedSince, quiet } from '../live/counters.mjs'
import { assertUpToDate } from '../live/watch.mjs'

const patience = 60_000 // ms
const checkedStreams = 100

/**
 * Resolves with what the live queries counted since `before`, once nothing moves and each commit that concerns one has been
 * answered for. Threads that get no processor for a while look as quiet as those that are done.
 */
export async function caughtUp(db, before, { concerned }) {
  const until = performance.now() + patience
  for (;;) {
    await quiet(db)
    const counted = await countedSince(db, before)
    if (counted.reruns + counted.coalesced >= concerned || performance.now() > until) return counted
    await sleep(20)
  }
}

/** `counted`, `emissions`: since the burst began. */
export async function assertWatched(db, { queries, writes, concerned }, watches, counted, emissions) {
  assertNothingLost(counted, concerned)
  if (queries.length > 0 && counted.commits < writes)
    throw new Error(`${counted.commits} commits looked at for ${queries.length} streams, ${writes} writes`)
  if (concerned === 0 && counted.reruns > 0)
    throw new Error(`${counted.reruns} re-runs though no write affects a live query`)
  if (counted.emitted !== emissions) throw new Error(`${counted.emitted} emitted, ${emissions} came`)
  if (concerned > 0 && emissions === 0) throw new Error('nothing was emitted')
  const some = evenly(queries, checkedStreams)
  await assertUpToDate(
    db,
    some.map((i) => watches[i]),
    some.map((i) => queries[i]),
  )
}

/** At most so many positions of a list. */
const evenly = (list, most) =>
  Array.from({ length: Math.min(list.length, most) }, (_, i) =>
    Math.floor((i * list.length) / Math.min(list.length, most)),
  )
