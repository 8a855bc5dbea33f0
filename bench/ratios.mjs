/**
 * Of each round: the best of `names` in that round ÷ the peer in the same round; above 1 the peer is better. Undefined
 * when one of them has nothing.
 */
export function ratios({ peers }, names, peer, measure) {
  const against = names.map((name) => peers[name]?.samples)
  const samples = peers[peer]?.samples
  if (!samples || against.includes(undefined)) return undefined
  const rounds = Math.min(samples.length, ...against.map(({ length }) => length))
  const values = samples
    .slice(0, rounds)
    .map((sample, round) => Math.min(...against.map((others) => others[round][measure])) / sample[measure])
  return values.every(Number.isFinite) ? values : undefined
}
