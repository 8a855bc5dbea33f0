import type { LiveFact } from '../types.ts'

/** The events of a live query between two samples. */
export interface Step {
  readonly reruns: number
  readonly unchanged: number
  readonly emitted: number
  readonly commits: number
  /** The milliseconds between them. */
  readonly span: number
}

/** Samples that are remembered: those of about a minute. */
export const STEPS = 120

/** Numbers of re-runs in about ten seconds that make a storm: all, and those that found nothing new. */
const STORM_RERUNS = 30
const STORM_SHARE = 0.8
const STORM_STEPS = 20

/** The history of live queries since the page was opened. */
export class History {
  readonly #steps = new Map<number, Step[]>()
  readonly #last = new Map<number, LiveFact>()

  /** Takes the counters of all live queries, once for each sample. */
  add(facts: readonly (readonly [number, LiveFact])[], span: number): void {
    const ids = new Set(facts.map(([id]) => id))
    for (const id of this.#last.keys()) {
      if (ids.has(id)) continue
      this.#last.delete(id)
      this.#steps.delete(id)
    }
    for (const [id, fact] of facts) {
      const before = (this.#last.get(id) ?? fact).stats
      const { stats } = fact
      const steps = this.#steps.get(id) ?? []
      steps.push({
        reruns: stats.reruns - before.reruns,
        unchanged: stats.unchanged - before.unchanged,
        emitted: stats.emitted - before.emitted,
        commits: stats.commits - before.commits,
        span,
      })
      if (steps.length > STEPS) steps.shift()
      this.#steps.set(id, steps)
      this.#last.set(id, fact)
    }
  }

  /** The latest last. */
  of(id: number): readonly Step[] {
    return this.#steps.get(id) ?? []
  }

  /** Re-runs per second, of the last ten seconds. */
  rate(id: number): number {
    const recent = this.of(id).slice(-STORM_STEPS)
    return (1000 * sum(recent, 'reruns')) / Math.max(1, sum(recent, 'span'))
  }

  /** True if a live query runs again and again in vain. */
  isStorm(id: number): boolean {
    const recent = this.of(id).slice(-STORM_STEPS)
    const reruns = sum(recent, 'reruns')
    return reruns >= STORM_RERUNS && sum(recent, 'unchanged') >= STORM_SHARE * reruns
  }
}

function sum(steps: readonly Step[], of: keyof Step): number {
  return steps.reduce((total, step) => total + step[of], 0)
}
