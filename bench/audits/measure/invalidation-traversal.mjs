import { join } from 'node:path'
import { stopAll, watchAll } from '../../live/watch.mjs'
import { Database } from '../../peers/resqlite.mjs'
import { random } from '../../random.mjs'
import * as keys from '../../reactive/cases/keys.mjs'
import { burst } from '../burst.mjs'
import { fill, updateKeyed } from '../scenarios.mjs'
import { burstsFor, measureScenarios } from '../turns.mjs'

const seed = 0xbeef

const unwatched = 10_000
const writes = 1000

/** Streams of one row each by key; writes to rows that one stream shows, and to rows that none does. */
export async function measure(context) {
  const sizes = context.quick ? [50, 1000, 10_000] : [50, 1000, 10_000, 100_000]
  const keyed = []
  for (const streams of sizes) keyed.push(...(await measureKeyed(streams, context)))
  const scenarios = await measureScenarios(['a11c-disjoint', 'a11c-overlap', 'a11b'], context)
  return { scenarios: [...scenarios, ...keyed] }
}

async function measureKeyed(streams, { quick, dir }) {
  const db = await Database.open(join(dir, `keyed-${streams}.db`))
  await fill(db, keys, 1, streams + unwatched)
  const queries = Array.from({ length: streams }, (_, i) => [keys.sql, [i + 1]])
  const watches = await watchAll(db, queries)
  const kinds = {
    shown: { below: streams, offset: 1, concerned: writes },
    'not shown': { below: unwatched, offset: streams + 1, concerned: 0 },
  }
  const { warm, kept } = burstsFor(quick)
  const results = []
  for (const [kind, { below, offset, concerned }] of Object.entries(kinds)) {
    const pick = random(seed)
    const scenario = {
      queries,
      writes,
      writer: (label) => (db, i) => updateKeyed(db, pick(below) + offset, `${label} ${i}`, i),
      concerned,
      quiet: 50,
    }
    const bursts = []
    for (let round = 0; round < warm + kept; round++) {
      const sample = await burst(db, scenario, watches, `${kind} ${round}`)
      if (round >= warm) bursts.push(sample)
    }
    const title = `keyed, ${streams.toLocaleString('en')} streams, rows ${kind}`
    results.push({ id: `keyed-${streams}-${kind.replace(' ', '-')}`, title, streams, writes, bursts })
  }
  stopAll(watches)
  await db.close()
  return results
}
