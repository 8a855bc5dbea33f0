// How many writes and rounds a peer can be given, so that slow ones stay affordable.

/** At most so many writes, this long (ms) for one measurement and for all of them, and so many of them. */
export const limits = (quick) =>
  quick ? { writes: 50, longest: 200, total: 500, most: 2 } : { longest: 4000, total: 24_000 }

export const fewest = 3

/** Writes of one measurement: as many as are wanted, fewer when `perWrite` (ms) says that they would take too long. */
export const opsFor = (wanted, perWrite, longest) =>
  Math.max(Math.min(wanted, fewest), Math.min(wanted, Math.floor(longest / perWrite)))

/** Rounds that fit: at least one. `perRound` and `total` in ms. */
export const roundsFor = (perRound, total, most = Number.POSITIVE_INFINITY) =>
  Math.max(1, Math.min(most, Math.floor(total / perRound)))

/**
 * The task of a workload whose `run(ops)` resolves with a sample. It is warmed up with few writes and then with ten times as many,
 * until they are half of those of a measurement or take too long: a peer that waits before it looks is slow for few writes only.
 * `ops`: writes of one measurement; `rounds`: the most that are to be measured.
 */
export async function fittedTask({ writes, quick }, run) {
  const { writes: limit = writes, longest, total, most } = limits(quick)
  const wanted = Math.min(writes, limit)
  let tried = Math.min(wanted, fewest)
  for (;;) {
    const start = performance.now()
    const { wall } = await run(tried)
    const overhead = performance.now() - start - wall * tried
    const ops = opsFor(wanted, wall, longest)
    if (tried * 2 >= ops || wall * tried > longest / 3)
      return { ops, rounds: roundsFor(wall * ops + overhead, total, most), measure: () => run(ops) }
    tried = Math.min(ops, tried * 10)
  }
}
