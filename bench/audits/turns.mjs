// Scenarios that take turns: the same bursts for each, in one process.
import { join } from 'node:path'
import { emptyLog } from '../live/counters.mjs'
import { stopAll, watchAll } from '../live/watch.mjs'
import { orderOf } from '../measure.mjs'
import { Database } from '../peers/resqlite.mjs'
import { burst } from './burst.mjs'
import { scenario, tables } from './scenarios.mjs'

export const burstsFor = (quick) => (quick ? { warm: 1, kept: 2 } : { warm: 2, kept: 5 })

/** → [{ id, title, streams, writes, control, bursts }] in the order of `ids`. */
export async function measureScenarios(ids, { quick, dir }) {
  const chosen = ids.map(scenario)
  const databases = new Map()
  for (const { table } of chosen) {
    if (databases.has(table)) continue
    const db = await Database.open(join(dir, `${table}.db`))
    await tables[table](db)
    databases.set(table, db)
  }
  const bursts = new Map(ids.map((id) => [id, []]))
  const { warm, kept } = burstsFor(quick)
  for (let round = 0; round < warm + kept; round++) {
    for (const id of orderOf(ids, round)) {
      const one = scenario(id)
      const sample = await withStreams(databases.get(one.table), one, `round ${round} of ${id}`)
      if (round >= warm) bursts.get(id).push(sample)
    }
  }
  for (const db of databases.values()) await db.close()
  return chosen.map(({ id, title, queries, writes, control }) => ({
    id,
    title,
    streams: queries.length,
    writes,
    control,
    bursts: bursts.get(id),
  }))
}

/** The log is emptied first, so that no checkpoint falls into the burst: with streams open, it would make all of them run again. */
async function withStreams(db, scenario, label) {
  await emptyLog(db)
  const watches = await watchAll(db, scenario.queries)
  try {
    return await burst(db, scenario, watches, label)
  } finally {
    stopAll(watches)
  }
}
