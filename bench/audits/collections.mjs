// What the garbage collector of V8 does meanwhile.
import { constants, PerformanceObserver } from 'node:perf_hooks'

const kinds = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'full',
}

/** Counts collections from its making on. */
export class Collections {
  #entries = []
  #observer = new PerformanceObserver((list) => this.#entries.push(...list.getEntries()))

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  /** Collections of the whole young and the whole old generation that nobody asked for, and milliseconds of all steps. */
  stop() {
    this.#entries.push(...this.#observer.takeRecords())
    this.#observer.disconnect()
    const own = this.#entries.filter(
      ({ detail }) => !(detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED),
    )
    const counted = { minor: 0, full: 0, ms: 0 }
    for (const { duration, detail } of own) {
      counted.ms += duration
      if (kinds[detail.kind]) counted[kinds[detail.kind]]++
    }
    return counted
  }
}
