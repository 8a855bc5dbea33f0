import { PerformanceObserver } from 'node:perf_hooks'

/** Period of the timer in milliseconds. The time between two ticks that exceeds the period is a stall. */
const interval = 1

/**
 * Watches the event loop with a timer that is due every millisecond. Whenever something holds the main
 * thread, the timer comes late, and by how much is the stall. Garbage collections that lie inside a stall are
 * told apart from the rest of it: they are V8's, and every program has them.
 */
export class StallMeter {
  #gaps = []
  #collections = []
  #lastTick = 0
  #timer
  #observer = new PerformanceObserver((list) => this.#note(list.getEntries()))

  start() {
    this.#gaps = []
    this.#collections = []
    this.#observer.observe({ entryTypes: ['gc'] })
    this.#lastTick = performance.now()
    this.#timer = setInterval(() => this.#tick(), interval)
  }

  /** Ends the watch. Resolves to the longest stall, the garbage collection in it, and the longest without, in ms. */
  async stop() {
    this.#tick()
    clearInterval(this.#timer)
    // Node hands the entries of collections over in a later turn.
    await new Promise((resolve) => setImmediate(resolve))
    this.#note(this.#observer.takeRecords())
    this.#observer.disconnect()
    return this.#longest()
  }

  #tick() {
    const now = performance.now()
    const late = now - this.#lastTick - interval
    if (late > 0) this.#gaps.push({ from: this.#lastTick, to: now, late })
    this.#lastTick = now
  }

  #note(entries) {
    for (const { startTime, duration } of entries) {
      this.#collections.push({ from: startTime, to: startTime + duration })
    }
  }

  #longest() {
    let longest = { stall: 0, collecting: 0 }
    let own = 0
    for (const gap of this.#gaps) {
      const collecting = this.#collectingWithin(gap)
      if (gap.late > longest.stall) longest = { stall: gap.late, collecting }
      own = Math.max(own, gap.late - collecting)
    }
    return { ...longest, own }
  }

  #collectingWithin(gap) {
    let total = 0
    for (const { from, to } of this.#collections) {
      total += Math.max(0, Math.min(to, gap.to) - Math.max(from, gap.from))
    }
    return Math.min(total, gap.late)
  }
}
