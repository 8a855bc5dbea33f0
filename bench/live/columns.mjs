import { assertNothingLost, countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { count, times } from './figure.mjs'
import { each, inTurns, metered, ratio, turn } from './turns.mjs'
import { assertUpToDate, reEmissions, stopAll, watchAll } from './watch.mjs'
import { makeWide, updateWide, wideRows } from './wide.mjs'

const streams = 10
const writes = 500
// A column that tells them apart: the same query ten times would be one stream.
const queries = Array.from({ length: streams }, (_, i) => [
  'SELECT id, a, b, ? AS stream FROM wide WHERE id < 1000 ORDER BY id',
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
  title: `${writes} updates of rows that ${streams} streams of 1,000 rows show, two turns of the event loop after each`,
  async measure({ open, rounds }) {
    const db = await open('wide')
    await makeWide(db)
    const { none, disjoint, overlap } = await inTurns(phases, Math.ceil(rounds / 3), (phase, label) =>
      run(db, phase, label),
    )
    return {
      disjoint: times(
        'updates/s, a column that no stream reads ÷ without streams',
        ratio(none, disjoint, 'wall'),
      ),
      overlap: times('updates/s, a column that all read ÷ without streams', ratio(none, overlap, 'wall')),
      disjointRequeries: count(
        're-queries per update, a column that no stream reads',
        each(disjoint, 'requeries'),
      ),
      overlapRequeries: count('re-queries per update, a column that all read', each(overlap, 'requeries')),
      overlapEmissions: count('emissions per update, a column that all read', each(overlap, 'emissions')),
    }
  },
}

async function run(db, { column, queries, concerned }, label) {
  await emptyLog(db)
  const watches = await watchAll(db, queries)
  const before = await counters(db)
  const sampled = await metered((ops) => update(db, column, ops, label), writes)
  await quiet(db)
  const counted = await countedSince(db, before)
  assertNothingLost(counted, concerned)
  if (counted.commits !== writes * queries.length) throw new Error(`${counted.commits} commits looked at`)
  if (reEmissions(watches) !== counted.emitted) throw new Error('not every emission arrived')
  if (concerned > 0 && counted.emitted === 0) throw new Error('nothing was emitted')
  await assertUpToDate(db, watches, queries)
  stopAll(watches)
  await quiet(db)
  return { ...sampled, requeries: counted.requeries / writes, emissions: counted.emitted / writes }
}

async function update(db, column, ops, label) {
  for (let i = 0; i < ops; i++) {
    await updateWide(db, column, i % wideRows, `${label} ${i}`)
    await turn()
    await turn()
  }
}
