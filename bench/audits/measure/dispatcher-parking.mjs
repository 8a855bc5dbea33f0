import { join } from 'node:path'
import { Database } from '../../peers/resqlite.mjs'
import { assertRows, seed } from '../../shapes.mjs'
import { loadProfile } from '../build.mjs'
import { drained } from '../burst.mjs'
import { burstsFor, measureScenarios } from '../turns.mjs'

const rows = 1000
const concurrencies = [1, 2, 4, 8, 16, 32]
const sql = 'SELECT * FROM items ORDER BY id'

/** Selects that are asked for all at once, and the scenarios of live queries. */
export async function measure(context) {
  const scenarios = ['a11c-baseline', 'a11c-disjoint', 'a11c-overlap', 'keyed', 'a11b']
  return { ...(await direct(context)), scenarios: await measureScenarios(scenarios, context) }
}

async function direct({ quick, dir }) {
  const profile = loadProfile()
  const file = join(dir, 'direct.db')
  seed(file, 'items', rows)
  const db = await Database.open(file)
  const { warm, kept } = burstsFor(quick)
  const volleys = []
  for (const concurrency of concurrencies) {
    const bursts = []
    for (let round = 0; round < warm + kept; round++) {
      await drained(20)
      profile.reset()
      const start = performance.now()
      const results = await Promise.all(Array.from({ length: concurrency }, () => db.select(sql)))
      const wall = performance.now() - start
      const counters = profile.snapshot()
      for (const result of results) assertRows('items', result, rows)
      if (counters.completions < concurrency) throw new Error(`${counters.completions} completions`)
      if (counters.rowsDecoded < concurrency * rows) throw new Error(`${counters.rowsDecoded} rows decoded`)
      if (round >= warm) bursts.push({ wall_us: wall * 1000, counters })
    }
    volleys.push({ concurrency, bursts })
  }
  const readers = (await db.diagnostics()).readers.max
  await db.close()
  return { readers, rows, volleys }
}
