// What the figures were measured on.
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { summary } from './summary.mjs'

export async function describeMachine(dir) {
  return {
    date: new Date().toISOString(),
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGiB: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.versions.node,
    v8: process.versions.v8,
    load: os.loadavg()[0],
    fdatasyncMs: summary(syncTimes(dir)).median,
    wakeUpMs: summary(await wakeUpTimes()).median,
  }
}

/** How long the disk takes to make one page durable: what a FULL commit cannot be faster than. */
function syncTimes(dir) {
  const file = join(dir, 'sync-probe')
  const fd = openSync(file, 'w')
  const page = Buffer.alloc(4096)
  const times = Array.from({ length: 50 }, (_, i) => {
    const start = performance.now()
    writeSync(fd, page, 0, page.length, i * page.length)
    fdatasyncSync(fd)
    return performance.now() - start
  })
  closeSync(fd)
  rmSync(file)
  return times
}

/**
 * How long a sleeping thread takes to wake and to wake this one in turn: what an awaited call cannot be faster than
 * when its reply comes from a thread that slept. 5 µs or 60 µs, depending on how deeply an idle core sleeps.
 */
async function wakeUpTimes() {
  const turn = new Int32Array(new SharedArrayBuffer(4)) // odd: the other thread's turn
  const worker = new Worker(
    `
    const { workerData: turn } = require('node:worker_threads')
    for (let mine = 1; ; mine += 2) {
      while (Atomics.load(turn, 0) < mine) Atomics.wait(turn, 0, mine - 1)
      Atomics.store(turn, 0, mine + 1)
      Atomics.notify(turn, 0)
    }`,
    { eval: true, workerData: turn },
  )
  const times = []
  for (let mine = 0; mine < 1000; mine += 2) {
    const start = performance.now()
    Atomics.store(turn, 0, mine + 1)
    Atomics.notify(turn, 0)
    while (Atomics.load(turn, 0) < mine + 2) Atomics.wait(turn, 0, mine + 1)
    times.push(performance.now() - start)
  }
  await worker.terminate()
  return times
}
