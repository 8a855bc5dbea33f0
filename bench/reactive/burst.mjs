// Writes beside live queries, from the first write until each stream shows the last one that concerns it.
import { setTimeout as sleep } from 'node:timers/promises'
import { activeSince, loopNow } from '../measure.mjs'
import { assertRows } from './model.mjs'
import { allArrived } from './stream.mjs'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Measures of every workload of this kind, beside wall and main. */
export const burstMeasures = {
  emissions: { title: 'values emitted per write', kind: 'count', better: 'lower' },
  needed: { title: 'values that change per write', kind: 'count', better: 'none' },
}

/**
 * Does `write(i)` for i from 0 to ops − 1 and waits until all streams show it: at the end, or (`each`) after every write. A write
 * calls `expect` of the streams that it concerns and returns a promise of their number. `turns`: how often the event loop turns after each write.
 *
 * Returns per write: wall (ms until the last awaited value), main (ms that the event loop was active until no peer was at
 * work any more), emissions, needed; and `latencies`, with `each`. Throws when a stream does not show what `model` says. `probe()`
 * is one more write, not counted, for bursts that need not concern any stream: they must not have passed because nothing works.
 */
export async function burst({ session, streams, model, ops, write, turns = 0, each = false, probe }) {
  await sleep(2) // lets what the last peer left behind finish
  globalThis.gc?.({ type: 'minor' }) // young garbage of the last peer is not this one's cost
  for (const stream of streams) stream.emissions = 0
  const latencies = []
  let needed = 0
  const loop = loopNow()
  const start = performance.now()
  for (let i = 0; i < ops; i++) {
    const before = performance.now()
    needed += await write(i)
    if (each) {
      await allArrived(streams)
      latencies.push(performance.now() - before)
    }
    for (let left = turns; left > 0; left--) await turn()
  }
  await allArrived(streams)
  const wall = performance.now() - start
  await quiet(session, streams)
  const main = activeSince(loop)
  const emissions = emitted(streams)
  await session.settle?.()
  assertShown(session, streams, model)
  if (probe) {
    await probe()
    await allArrived(streams)
    await quiet(session, streams)
  }
  return { wall: wall / ops, main: main / ops, emissions: emissions / ops, needed: needed / ops, latencies }
}

const emitted = (streams) => streams.reduce((sum, stream) => sum + stream.emissions, 0)

const busy = 2 // ms of a window in which the event loop was active: more than timers take

/** Resolves when for `session.quiet` nothing was emitted and the event loop had next to nothing to do. */
export async function quiet(session, streams) {
  for (;;) {
    const [before, loop] = [emitted(streams), loopNow()]
    await sleep(session.quiet)
    if (emitted(streams) === before && activeSince(loop) < busy) return
  }
}

/** Throws unless every stream has exactly the rows that it must have. */
export function assertShown(session, streams, model) {
  if (session.errors.length > 0) throw session.errors[0]
  for (const { rows, query } of streams) assertRows(rows, query.rows(model), query.sql)
}
