import { count, rate, times } from './figure.mjs'
import { each, inTurns, ratio } from './turns.mjs'
import { makeWide, updatesBeside, wideRows, writes } from './wide.mjs'

const streams = 50
const partition = wideRows / streams
const queries = Array.from({ length: streams }, (_, i) => [
  'SELECT id, a, b FROM wide WHERE id >= ? AND id < ? ORDER BY id',
  [i * partition, (i + 1) * partition],
])

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
  title: `${writes} updates, two turns of the event loop after each, beside ${streams} streams of ${partition} rows`,
  async measure({ open, rounds }) {
    const db = await open('wide')
    await makeWide(db)
    const { noneC, disjoint, noneA, overlap } = await inTurns(phases, 2 * rounds, (phase, label) =>
      updatesBeside(db, phase, label),
    )
    return {
      baseline: rate(
        'updates/s without streams',
        noneA.map(({ wall }) => 1000 / wall),
      ),
      disjoint: times(
        'updates/s, columns that no stream reads ÷ without streams',
        ratio(noneC, disjoint, 'wall'),
      ),
      overlap: times('updates/s, columns that streams read ÷ without streams', ratio(noneA, overlap, 'wall')),
      disjointMain: times(
        'main-thread time, columns that no stream reads ÷ without',
        ratio(disjoint, noneC, 'cpu'),
      ),
      overlapMain: times(
        'main-thread time, columns that streams read ÷ without',
        ratio(overlap, noneA, 'cpu'),
      ),
      disjointRequeries: count(
        're-queries per update, columns that no stream reads',
        each(disjoint, 'requeries'),
      ),
      overlapRequeries: count('re-queries per update, columns that streams read', each(overlap, 'requeries')),
      overlapEmissions: count('emissions per update, columns that streams read', each(overlap, 'emissions')),
    }
  },
}
