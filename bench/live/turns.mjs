// Phases of a workload that take turns, and what is made of their samples.
import { setTimeout as sleep } from 'node:timers/promises'
import { orderOf, sample } from '../measure.mjs'

/**
 * Runs every phase once to warm up and then `rounds` times, in the order of `orderOf`. Returns phase → samples, one per
 * round, so that samples with the same index belong together.
 */
export async function inTurns(phases, rounds, one) {
  const names = Object.keys(phases)
  const samples = Object.fromEntries(names.map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const name of orderOf(names, round)) {
      const sampled = await one(phases[name], `${name} ${round}`)
      if (round > 0) samples[name].push(sampled)
    }
  }
  return samples
}

/**
 * `run(ops)`, measured as in `sample`, after a full collection: first values that a stream has just brought are not
 * moved about at the expense of what is measured.
 */
export async function metered(run, ops) {
  globalThis.gc()
  await sleep(20) // what was collected is swept by threads that would take the processors from others
  return await sample({ run }, ops)
}

/** Of each round: how many times the measure of `one` is that of `other`. */
export const ratio = (one, other, measure) => one.map((sample, i) => sample[measure] / other[i][measure])

export const each = (samples, measure) => samples.map((sample) => sample[measure])

/** To let the event loop turn once without any delay. */
export const turn = () => new Promise((resolve) => setImmediate(resolve))
