/** Rows that are in the result before and in the new one, next to each other in both. */
export interface KeptRun {
  /** Where they stood. */
  readonly start: number
  readonly count: number
  /** Where they stand. */
  readonly index: number
}

/**
 * Those of the runs (in their new order) that have to move, so that all others keep their order: the heaviest
 * ascending sequence of starts stays. Takes n log n steps.
 */
export function movedRuns(runs: readonly KeptRun[]): KeptRun[] {
  if (isAscending(runs)) return []
  const ranks = ranksByStart(runs)
  const best = new BestBelow(runs.length)
  const before: number[] = []
  let last = -1
  let most = 0
  runs.forEach((run, r) => {
    const rank = ranks[r] as number
    const { weight, run: previous } = best.below(rank)
    before.push(previous)
    const total = weight + run.count
    best.add(rank, total, r)
    if (total > most) {
      most = total
      last = r
    }
  })
  const stays = new Set<number>()
  for (let r = last; r !== -1; r = before[r] as number) stays.add(r)
  return runs.filter((_, r) => !stays.has(r))
}

function isAscending(runs: readonly KeptRun[]): boolean {
  return runs.every((run, r) => r === 0 || run.start > (runs[r - 1] as KeptRun).start)
}

function ranksByStart(runs: readonly KeptRun[]): number[] {
  const order = runs.map((_, r) => r)
  order.sort((a, b) => (runs[a] as KeptRun).start - (runs[b] as KeptRun).start)
  const ranks: number[] = new Array(runs.length)
  order.forEach((r, rank) => {
    ranks[r] = rank
  })
  return ranks
}

/** A Fenwick tree: the heaviest sequence that ends below a rank. */
class BestBelow {
  readonly #weights: Float64Array
  readonly #runs: Int32Array

  constructor(ranks: number) {
    this.#weights = new Float64Array(ranks + 1)
    this.#runs = new Int32Array(ranks + 1).fill(-1)
  }

  add(rank: number, weight: number, run: number): void {
    for (let i = rank + 1; i < this.#weights.length; i += i & -i) {
      if (weight <= (this.#weights[i] as number)) continue
      this.#weights[i] = weight
      this.#runs[i] = run
    }
  }

  below(rank: number): { weight: number; run: number } {
    let weight = 0
    let run = -1
    for (let i = rank; i > 0; i -= i & -i) {
      if ((this.#weights[i] as number) <= weight) continue
      weight = this.#weights[i] as number
      run = this.#runs[i] as number
    }
    return { weight, run }
  }
}
