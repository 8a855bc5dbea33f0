import { setTimeout as sleep } from 'node:timers/promises'
import { byMarker, outsider, rowsEach, streams, table, values } from '../reactive/cases/texts.mjs'
import { createSql } from '../reactive/sql.mjs'
import { summary } from '../summary.mjs'
import { countedSince, counters, quiet } from './counters.mjs'
import { count, time, times } from './figure.mjs'
import { each, inTurns, metered, ratio } from './turns.mjs'
import { reEmissions, stopAll, watchAll } from './watch.mjs'

const unchanged = Array.from({ length: streams }, (_, i) => {
  const { sql, params } = byMarker(i)
  return [sql, params]
})
const barrier = ['SELECT body FROM long_items WHERE id = ?', [outsider]]

/**
 * Long texts that are read again and are the same: nothing of them may reach the main thread. The updates are
 * timed alone, with time between them in which the re-queries end; and together with one more stream whose value tells that the
 * update has come through.
 */
export const longUnchanged = {
  id: 'live-unchanged',
  version: 'v1',
  title: `updates that change none of ${streams} live queries of ${rowsEach} texts of 4 KiB, which all must look`,
  async measure({ open, rounds, quick }) {
    const db = await open('long')
    await makeTexts(db)
    const writes = quick ? 20 : 30
    const pause = await timeToSettle(db)
    const phases = {
      none: { queries: [], pause },
      unchanged: { queries: unchanged, pause },
      barrier: { queries: [], last: barrier },
      both: { queries: unchanged, last: barrier },
    }
    const {
      none,
      unchanged: looked,
      barrier: alone,
      both,
    } = await inTurns(phases, rounds, (phase, label) => run(db, phase, writes, label))
    return {
      main: times('main-thread time of an update ÷ without live queries', ratio(looked, none, 'cpu'), {
        better: 'lower',
      }),
      added: time(
        'main-thread time of an update, less one without live queries',
        looked.map(({ cpu }, i) => cpu - none[i].cpu),
      ),
      mainNone: time('main-thread time of an update without live queries', each(none, 'cpu')),
      mainLooked: time('main-thread time of an update', each(looked, 'cpu')),
      wall: time('update → value of the live query that changes', each(both, 'wall')),
      wallAlone: time('the same without the others', each(alone, 'wall')),
      requeries: count('re-runs per update and live query', each(looked, 'requeries')),
    }
  },
}

async function makeTexts(db) {
  for (const sql of createSql(table)) await db.exec(sql)
  const sets = Array.from({ length: outsider }, (_, i) => values(i + 1))
  await db.executeBatch('INSERT INTO long_items (id, marker, body) VALUES (?, ?, ?)', sets)
}

/** Three times as long as all streams take to look. */
async function timeToSettle(db) {
  const samples = []
  for (let i = 0; i < 5; i++)
    samples.push(await run(db, { queries: unchanged, last: barrier }, 3, `first ${i}`))
  return Math.max(5, Math.ceil(3 * summary(each(samples, 'wall')).median))
}

async function run(db, { queries, last, pause }, writes, label) {
  const watches = await watchAll(db, last ? [...queries, last] : queries)
  const before = await counters(db)
  const seen = watches.at(-1)
  const update = async (ops) => {
    for (let i = 0; i < ops; i++) {
      const body = `${label} ${i}`
      await db.execute('UPDATE long_items SET body = ? WHERE id = ?', [body, outsider])
      if (last) await seen.until(([row]) => row.body === body)
      else await sleep(pause)
    }
  }
  const sampled = await metered(update, writes)
  await quiet(db)
  const counted = await countedSince(db, before)
  assertLooked(counted, watches, queries.length, writes, last !== undefined)
  stopAll(watches)
  await quiet(db)
  return { ...sampled, requeries: counted.reruns / writes / queries.length }
}

/** All had to look (some for two updates at once), and none of the long texts were emitted. */
function assertLooked({ reruns, coalesced, unchanged, errors }, watches, streams, writes, withLast) {
  if (errors > 0) throw new Error(`${errors} re-runs failed`)
  const lastOnes = withLast ? writes : 0
  if (reruns + coalesced < streams * writes + lastOnes || unchanged < (streams * writes) / 2)
    throw new Error(`${reruns} re-runs, ${unchanged} of them unchanged, for ${streams} × ${writes}`)
  if (reEmissions(watches) !== lastOnes) throw new Error('a live query that did not change was emitted')
}
