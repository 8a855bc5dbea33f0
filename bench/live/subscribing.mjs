import { emptyLog, quiet } from './counters.mjs'
import { time, times } from './figure.mjs'
import { shapes } from './growth/shapes.mjs'
import { each, inTurns, ratio } from './turns.mjs'
import { Watch } from './watch.mjs'

const rows = 100_000
const all = {
  ...shapes[0],
  id: 'all',
  sql: 'SELECT id, name, score FROM tasks ORDER BY id',
}

/**
 * The first value of a live query beside a select of the same text; and its first re-run, at which the engine finds out where
 * rows come from, beside that of a query that is not maintained.
 */
export const subscribing = {
  id: 'live-subscribing',
  version: 'v1',
  title: `the first value and the first re-run of live queries on ${rows.toLocaleString('en')} rows`,
  async measure({ open, rounds }) {
    const figures = {}
    for (const shape of [all, ...shapes]) {
      const db = await open(shape.id)
      await db.exec(shape.tables(rows))
      await emptyLog(db)
      const ids = shape.ids && (await db.select(shape.ids)).map(({ id }) => id)
      const phases = {
        select: () => select(db, shape),
        maintained: () => subscribe(db, shape, ids, true),
        whole: () => subscribe(db, shape, ids, false),
      }
      const samples = await inTurns(phases, rounds, (phase) => phase())
      Object.assign(figures, figuresOf(shape, samples))
      await db.close()
    }
    return figures
  },
}

function figuresOf({ id }, { select, maintained, whole }) {
  const lower = { better: 'lower' }
  return {
    [id]: times(`${id}: first value ÷ select`, ratio(maintained, select, 'first'), lower),
    [`${id}Whole`]: times(`${id}: first value, maintained ÷ not`, ratio(maintained, whole, 'first'), lower),
    [`${id}Rerun`]: times(`${id}: first re-run, maintained ÷ not`, ratio(maintained, whole, 'rerun'), lower),
    [`${id}First`]: time(`${id}: first value`, each(maintained, 'first')),
  }
}

async function select(db, { sql }) {
  globalThis.gc()
  const start = performance.now()
  await db.select(sql)
  return { first: performance.now() - start }
}

/** No two commits are the same, so each changes a row. */
let commits = 0

/** Milliseconds: of the first value, on the clock; of the first re-run, on the native thread. */
async function subscribe(db, { sql, changes }, ids, maintain) {
  const [change] = Object.values(changes)
  globalThis.gc()
  const start = performance.now()
  const watch = new Watch(db.stream(sql, [], { maintain }))
  await watch.next()
  const first = performance.now() - start
  const value = watch.next()
  await db.execute(change.sql, change.params(commits++, rows, ids))
  await value
  const { reruns, lastMicros } = watch.live.stats
  if (reruns !== 1) throw new Error(`${reruns} re-runs for one commit`)
  watch.stop()
  await quiet(db)
  return { first, rerun: lastMicros / 1000 }
}
