import { byRange, partition, partitions as streams, writes } from '../reactive/cases/wide.mjs'
import { count, rate, times } from './figure.mjs'
import { each, inTurns, ratio } from './turns.mjs'
import { makeWide, updatesBeside } from './wide.mjs'

const queries = Array.from({ length: streams }, (_, i) => {
  const { sql, params } = byRange(i * partition, (i + 1) * partition)
  return [sql, params]
})

const phases = {
  noneC: { column: 'c', queries: [], concerned: 0 },
  disjoint: { column: 'c', queries, concerned: 0 },
  noneA: { column: 'a', queries: [], concerned: 0 },
  overlap: { column: 'a', queries, concerned: writes },
}

/** A11c: what streams cost a writer, whose commits change what they show, or other columns of the same rows. */
export const writer = {
  id: 'live-writer',
  version: 'v1',
  title: `${writes} updates, two turns of the event loop after each, beside ${streams} live queries of ${partition} rows`,
  async measure({ open, rounds }) {
    const db = await open('wide')
    await makeWide(db)
    const { noneC, disjoint, noneA, overlap } = await inTurns(phases, 2 * rounds, (phase, label) =>
      updatesBeside(db, phase, label),
    )
    return {
      baseline: rate(
        'updates/s without live queries',
        noneA.map(({ wall }) => 1000 / wall),
      ),
      disjoint: times(
        'updates/s, columns that no live query reads ÷ without live queries',
        ratio(noneC, disjoint, 'wall'),
        { better: 'higher' },
      ),
      overlap: times(
        'updates/s, columns that live queries read ÷ without live queries',
        ratio(noneA, overlap, 'wall'),
        { better: 'higher' },
      ),
      disjointMain: times(
        'main-thread time, columns that no live query reads ÷ without',
        ratio(disjoint, noneC, 'cpu'),
        { better: 'lower' },
      ),
      overlapMain: times(
        'main-thread time, columns that live queries read ÷ without',
        ratio(overlap, noneA, 'cpu'),
        { better: 'lower' },
      ),
      disjointRequeries: count(
        're-runs per update, columns that no live query reads',
        each(disjoint, 'requeries'),
        { better: 'lower' },
      ),
      overlapRequeries: count(
        're-runs per update, columns that live queries read',
        each(overlap, 'requeries'),
        { better: 'lower' },
      ),
      overlapEmissions: count(
        'emissions per update, columns that live queries read',
        each(overlap, 'emissions'),
      ),
    }
  },
}
