import { sameRows, sameStreams as streams, writes } from '../reactive/cases/wide.mjs'
import { count, times } from './figure.mjs'
import { each, inTurns, ratio } from './turns.mjs'
import { makeWide, updatesBeside } from './wide.mjs'

// A column that tells them apart: the same query ten times would be one stream.
const queries = Array.from({ length: streams }, (_, i) => [
  `SELECT id, a, b, ? AS stream FROM wide WHERE id < ${sameRows} ORDER BY id`,
  [i],
])

const phases = {
  none: { column: 'a', queries: [], concerned: 0 },
  disjoint: { column: 'c', queries, concerned: 0 },
  overlap: { column: 'a', queries, concerned: writes * streams },
}

/** Column granularity: streams that all show the rows that are updated. */
export const columns = {
  id: 'live-columns',
  version: 'v1',
  title: `${writes} updates of rows that ${streams} live queries of 1,000 rows show, two turns of the event loop after each`,
  async measure({ open, rounds }) {
    const db = await open('wide')
    await makeWide(db)
    const { none, disjoint, overlap } = await inTurns(phases, Math.ceil(rounds / 3), (phase, label) =>
      updatesBeside(db, phase, label),
    )
    return {
      disjoint: times(
        'updates/s, a column that no live query reads ÷ without live queries',
        ratio(none, disjoint, 'wall'),
        { better: 'higher' },
      ),
      overlap: times(
        'updates/s, a column that all read ÷ without live queries',
        ratio(none, overlap, 'wall'),
        {
          better: 'higher',
        },
      ),
      disjointRequeries: count(
        're-runs per update, a column that no live query reads',
        each(disjoint, 'requeries'),
        { better: 'lower' },
      ),
      overlapRequeries: count('re-runs per update, a column that all read', each(overlap, 'requeries'), {
        better: 'lower',
      }),
      overlapEmissions: count('emissions per update, a column that all read', each(overlap, 'emissions')),
    }
  },
}
