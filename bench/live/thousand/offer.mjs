import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from './clock.mjs'

export const offered = 1000 // writes per second

/**
 * Calls `write` at the offered rate, whether or not the writes before are done. Resolves with what the calls gave, when all
 * replies are there, and the time of the last call.
 */
export async function offer(write, seconds) {
  const replies = []
  const start = performance.now()
  const total = seconds * offered
  while (replies.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - start) * offered) / 1000))
    while (replies.length < due) replies.push(write())
    await sleep(1)
  }
  const lastCall = clock()
  return { writes: await Promise.all(replies), lastCall }
}
