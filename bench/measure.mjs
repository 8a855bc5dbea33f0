// Timing: wall time and main-thread time of one operation, peers taking turns.

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** Active time of this thread's event loop (ms) since `since`, an earlier value of this function's twin `loopNow`. */
export const activeSince = (since) => performance.eventLoopUtilization(since).active
export const loopNow = () => performance.eventLoopUtilization()

/** CPU time of this thread (ms) since `since`, an earlier value of this function's twin `cpuNow`. */
export const cpuSince = (since) => {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1000
}
export const cpuNow = () => process.threadCpuUsage()

/** Runs `task.run(ops)` once and returns milliseconds per operation: wall, active time of the event loop, CPU time of the thread. */
export async function sample(task, ops) {
  await task.reset?.()
  await sleep(2) // lets what the last peer left behind (timers, replies, worker threads) finish
  globalThis.gc?.({ type: 'minor' }) // young garbage of the last peer is not this one's cost
  const cpuStart = cpuNow()
  const loop = loopNow()
  const start = performance.now()
  await task.run(ops)
  const wall = performance.now() - start
  const main = activeSince(loop)
  const cpu = cpuSince(cpuStart)
  await task.verify?.(ops)
  return { wall: wall / ops, main: main / ops, cpu: cpu / ops }
}

/**
 * The longest time (ms) for which the task keeps a 1 ms timer from firing, beyond its millisecond, while operations
 * follow each other for about `milliseconds`. Each operation has a turn of the event loop of its own, as in a server.
 * Apart from the timed samples, because the timer keeps the loop awake.
 */
export async function longestHold(task, milliseconds = 30) {
  const { step = 1, most = 1e6 } = task
  await task.reset?.()
  globalThis.gc?.({ type: 'minor' })
  let longest = 0
  let last = performance.now()
  const beat = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last - 1)
    last = now
  }
  const heart = setInterval(beat, 1)
  await sleep(3)
  longest = 0
  const start = performance.now()
  let ops = 0
  while (ops + step <= most && (ops === 0 || performance.now() - start < milliseconds)) {
    await task.run(step)
    ops += step
    await new Promise((resolve) => setImmediate(resolve))
  }
  beat()
  clearInterval(heart)
  await task.verify?.(ops)
  return longest
}

/** Warms a task up and returns how many operations fill `sampleMs`. */
export async function calibrate(task, sampleMs) {
  const { step = 1, most = 1e6 } = task
  let ops = step
  let perOp
  for (let attempt = 0; attempt < 12; attempt++) {
    perOp = (await sample(task, ops)).wall
    if (perOp * ops >= sampleMs / 2 && attempt >= 2) break
    ops = fit(Math.max(sampleMs / perOp, attempt < 2 ? 0 : ops * 2), step, most)
  }
  return fit(sampleMs / perOp, step, most)
}

const fit = (ops, step, most) => Math.min(Math.max(Math.ceil(ops / step), 1) * step, most)

/**
 * Measures `tasks` (peer name → task) for a number of rounds. Every round runs every peer once; the order
 * rotates by one every second round and is reversed in the one between, so that nobody always follows the same peer.
 * Returns peer name → list of samples, one per round; a peer that fails gets an `Error` instead. `mostRounds(name)`: after
 * how many a peer that takes very long is excused. `goesOn(round)`: whether there is time for it.
 */
export async function alternate(
  names,
  rounds,
  measureOne,
  { progress = () => {}, mostRounds = () => rounds, goesOn = () => true } = {},
) {
  const results = new Map(names.map((name) => [name, []]))
  for (let round = 0; round < rounds && goesOn(round); round++) {
    for (const name of orderOf(names, round)) {
      const samples = results.get(name)
      if (samples instanceof Error || samples.length >= mostRounds(name)) continue
      progress(round, name)
      try {
        samples.push(await measureOne(name))
      } catch (error) {
        results.set(name, error)
      }
    }
  }
  return results
}

export function orderOf(names, round) {
  const by = Math.floor(round / 2) % names.length
  const rotated = [...names.slice(by), ...names.slice(0, by)]
  return round % 2 ? rotated.reverse() : rotated
}

/**
 * Throws unless the meter itself is sane here: a sleeping loop must count as idle, a busy one as active. On a slow machine
 * something else may keep the loop from sleeping, so it is looked at several times, and the best counts.
 */
export async function checkMeter(tries = 5) {
  let [asleep, busy] = [Infinity, 0]
  await sleep(5)
  for (let i = 0; i < tries && !(asleep <= 10 && busy >= 29); i++) {
    let loop = loopNow()
    await sleep(60)
    asleep = Math.min(asleep, activeSince(loop))
    loop = loopNow()
    const until = performance.now() + 30
    while (performance.now() < until);
    busy = Math.max(busy, activeSince(loop))
  }
  if (asleep > 10 || busy < 29)
    throw new Error(
      `event-loop meter: ${asleep} ms active asleep, ${busy} of 30 ms busy, the best of ${tries} tries`,
    )
}
