// One burst of writes beside live queries, and what the counters say about it.
import { setTimeout as sleep } from 'node:timers/promises'
import { countedSince, counters as liveCounters } from '../live/counters.mjs'
import { reEmissions } from '../live/watch.mjs'
import { loadProfile } from './build.mjs'
import { assertWatched, caughtUp } from './watched.mjs'

const profile = loadProfile()
const patience = 60_000 // ms
const settle = 20 // ms
const attempts = 3

/**
 * Runs the writes of a scenario. The streams must have their first values. The stopwatch of the burst stops with the last
 * awaited write; then `counters` are read; then everything is waited for that the writes have caused, and the counters are
 * read again. Native threads count a piece of work when they are done with it, so only the second reading has all of it.
 * `drain_us` includes the quiet window by which the end of the drain is known, `work_us` does not; without live queries both are 0.
 */
export async function burst(db, scenario, watches, label) {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const { isComplete, sample } = await once(db, scenario, watches, `${label}, attempt ${attempt}`)
    if (isComplete) return sample
  }
  throw new Error(
    `threads were still at work after a quiet window, ${attempts} times: too much else runs here`,
  )
}

async function once(db, scenario, watches, label) {
  const { queries, writes, writer, quiet } = scenario
  globalThis.gc()
  await drained(settle)
  const emissionsBefore = reEmissions(watches)
  const liveBefore = await liveCounters(db)
  const write = writer(label)
  profile.reset()
  const start = performance.now()
  for (let i = 0; i < writes; i++) await write(db, i)
  const wall = performance.now() - start
  const counters = profile.snapshot()
  const drain = await drained(queries.length > 0 ? quiet : settle)
  const countersAfterDrain = profile.snapshot()
  const liveAfter = await countedSince(db, liveBefore)
  const counted = await caughtUp(db, liveBefore, scenario)
  const emissions = reEmissions(watches) - emissionsBefore
  await assertWatched(db, scenario, watches, counted, emissions)
  const sample = {
    wall_us: wall * 1000,
    drain_us: queries.length > 0 ? drain.all * 1000 : 0,
    work_us: queries.length > 0 ? drain.work * 1000 : 0,
    emissions,
    counters,
    countersAfterDrain,
  }
  const isComplete =
    same(liveAfter, counted, ['reruns', 'emitted', 'coalesced']) &&
    same(countersAfterDrain, profile.snapshot(), [
      'writerRequestCount',
      'intersectionCount',
      'streamEmitCount',
    ])
  if (isComplete) assertCounted(sample, scenario)
  return { isComplete, sample }
}

const same = (before, after, names) => names.every((name) => before[name] === after[name])

/**
 * Resolves once no counter has moved for `window` ms. `all`: how long that took, the window included. `work`: until the
 * last look before a counter moved for the last time, hence at most as long as the work really took. Looks at nothing
 * but the counters: a question to the native threads would be counted itself.
 */
export async function drained(window) {
  const start = performance.now()
  let seen = JSON.stringify(profile.snapshot())
  let looked = start // when the last look was
  let moved = start // when a counter was last seen to have moved
  let work = 0
  while (performance.now() - moved < window) {
    await sleep(1)
    const now = JSON.stringify(profile.snapshot())
    if (now !== seen) {
      work = looked - start
      moved = performance.now()
    }
    seen = now
    looked = performance.now()
    if (looked - start > patience) throw new Error(`still at work after ${patience / 1000} s`)
  }
  return { all: performance.now() - start, work }
}

/** Throws when the counters cannot be those of this burst. */
function assertCounted({ counters, countersAfterDrain, emissions }, { writes, queries }) {
  const atLeast = (name, least, among = countersAfterDrain) => {
    if (!(among[name] >= least)) throw new Error(`${name} is ${among[name]}, not ${least} or more`)
  }
  atLeast('completions', writes, counters)
  atLeast('completionHandlerCount', 1, counters)
  atLeast('writerRequestCount', writes)
  atLeast('writerCommitCount', writes)
  atLeast('intersectionCount', queries.length > 0 ? writes : 0)
  if (countersAfterDrain.streamEmitCount !== emissions)
    throw new Error(`${countersAfterDrain.streamEmitCount} emissions counted, ${emissions} came`)
  for (const [name, value] of Object.entries(counters)) atLeast(name, value)
}
