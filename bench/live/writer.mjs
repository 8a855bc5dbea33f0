import { assertNothingLost, countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { count, rate, times } from './figure.mjs'
import { each, inTurns, metered, ratio, turn } from './turns.mjs'
import { assertUpToDate, reEmissions, stopAll, watchAll } from './watch.mjs'
import { makeWide, updateWide, wideRows } from './wide.mjs'

const streams = 50
const writes = 500
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
      run(db, phase, label),
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

async function run(db, { column, queries, concerned }, label) {
  await emptyLog(db)
  const watches = await watchAll(db, queries)
  const before = await counters(db)
  const sampled = await metered((ops) => update(db, column, ops, label), writes)
  await quiet(db)
  const counted = await countedSince(db, before)
  assertNothingLost(counted, concerned)
  if (counted.commits !== writes * queries.length)
    throw new Error(`${counted.commits} commits looked at for ${queries.length} streams`)
  if (reEmissions(watches) !== counted.emitted) throw new Error('not every emission arrived')
  await assertUpToDate(db, watches, queries)
  if (watches.length > 0) await assertAlive(db, watches[0], label)
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

async function assertAlive(db, watch, label) {
  const text = `${label}, the last`
  await updateWide(db, 'a', 0, text)
  await watch.until(([first]) => first.a === text)
}
