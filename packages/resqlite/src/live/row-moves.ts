/** A segment of kept rows, which are adjacent in the result before and adjacent in the new result. */
export interface KeptSegment {
  /** The position of its first row in the result before. */
  readonly start: number
  readonly count: number
  /** The position of its first row in the new result. */
  readonly index: number
}

/**
 * Returns the segments that have to move so that all others keep their relative order. The segments are given in their new
 * order. The segments that stay are the ascending sequence of starts with the most rows. Takes n log n steps.
 */
export function movedSegments(segments: readonly KeptSegment[]): KeptSegment[] {
  if (isAscending(segments)) return []
  const ranks = ranksByStart(segments)
  const best = new HeaviestBelow(segments.length)
  const predecessors: number[] = []
  let last = -1
  let heaviest = 0
  segments.forEach((segment, s) => {
    const rank = ranks[s] as number
    const { weight, segment: predecessor } = best.below(rank)
    predecessors.push(predecessor)
    const total = weight + segment.count
    best.add(rank, total, s)
    if (total > heaviest) {
      heaviest = total
      last = s
    }
  })
  const staying = new Set<number>()
  for (let s = last; s !== -1; s = predecessors[s] as number) staying.add(s)
  return segments.filter((_, s) => !staying.has(s))
}

function isAscending(segments: readonly KeptSegment[]): boolean {
  return segments.every((segment, s) => s === 0 || segment.start > (segments[s - 1] as KeptSegment).start)
}

function ranksByStart(segments: readonly KeptSegment[]): number[] {
  const order = segments.map((_, s) => s)
  order.sort((a, b) => (segments[a] as KeptSegment).start - (segments[b] as KeptSegment).start)
  const ranks: number[] = new Array(segments.length)
  order.forEach((s, rank) => {
    ranks[s] = rank
  })
  return ranks
}

/** A Fenwick tree that finds the heaviest of the sequences that end below a rank. */
class HeaviestBelow {
  readonly #weights: Float64Array
  /** The last segment of the sequence with that weight, or -1. */
  readonly #segments: Int32Array

  constructor(ranks: number) {
    this.#weights = new Float64Array(ranks + 1)
    this.#segments = new Int32Array(ranks + 1).fill(-1)
  }

  add(rank: number, weight: number, segment: number): void {
    for (let i = rank + 1; i < this.#weights.length; i += i & -i) {
      if (weight <= (this.#weights[i] as number)) continue
      this.#weights[i] = weight
      this.#segments[i] = segment
    }
  }

  below(rank: number): { weight: number; segment: number } {
    let weight = 0
    let segment = -1
    for (let i = rank; i > 0; i -= i & -i) {
      if ((this.#weights[i] as number) <= weight) continue
      weight = this.#weights[i] as number
      segment = this.#segments[i] as number
    }
    return { weight, segment }
  }
}
