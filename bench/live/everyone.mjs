import { setTimeout as sleep } from 'node:timers/promises'
import { countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { count, time } from './figure.mjs'
import { each, inTurns, metered } from './turns.mjs'
import { assertUpToDate, reEmissions, stopAll, watchAll } from './watch.mjs'

const numbers = [5, 50, 500]
const writes = 50
const rows = 100
const pause = 20 // ms, in which most of the re-runs are done; the rest is done for several writes at once

// Each write concerns all of them: nothing tells them which rows they need. What is maintained would not run again.
const shownBy = {
  same: (i) => ['SELECT count(*) AS n FROM few WHERE length(a) > ? AND random() IS NOT NULL', [-i]],
  changed: (i) => ['SELECT ? AS stream, a FROM few WHERE id + random() * 0 = 0', [i]],
}

const phases = { none: { queries: [], makes: 'none' } }
for (const number of numbers) {
  for (const [makes, query] of Object.entries(shownBy)) {
    phases[`${makes}${number}`] = { makes, queries: Array.from({ length: number }, (_, i) => query(i)) }
  }
}

/** Re-runs that change nothing, and such that do, where each write concerns every live query. */
export const everyone = {
  id: 'live-everyone',
  version: 'v1',
  title: `${writes} updates, ${pause} ms apart, of a row out of ${rows} that all live queries read`,
  async measure({ quick, open, rounds }) {
    const db = await open('few')
    await db.exec('CREATE TABLE few(id INTEGER PRIMARY KEY, a TEXT)')
    await db.exec(`INSERT INTO few SELECT value, 'a' FROM generate_series(0, ${rows - 1})`)
    const s = await inTurns(phases, Math.min(rounds, quick ? 2 : 5), (phase, label) => run(db, phase, label))
    const figures = { none: time('main-thread time per update without live queries', each(s.none, 'cpu')) }
    for (const number of numbers) {
      for (const makes of Object.keys(shownBy)) {
        const name = `${makes}${number}`
        const added = s[name].map(({ cpu, reruns }, i) => (cpu - s.none[i].cpu) / reruns)
        const what = makes === 'same' ? 'that changes nothing' : 'that changes the result'
        figures[name] = time(`main-thread time per re-run ${what}, ${number} live queries`, added)
        figures[`${name}Reruns`] = count(
          `re-runs per update, ${number} live queries, ${makes}`,
          each(s[name], 'reruns'),
        )
      }
    }
    return figures
  },
}

async function run(db, { queries, makes }, label) {
  await emptyLog(db)
  const watches = await watchAll(db, queries)
  await quiet(db)
  const before = await counters(db)
  const sampled = await metered(async () => {
    for (let i = 0; i < writes; i++) {
      await db.execute('UPDATE few SET a = ? WHERE id = 0', [`${label} ${i}`])
      await sleep(pause)
    }
  }, writes)
  await quiet(db, before, writes * queries.length)
  const { reruns, errors } = await countedSince(db, before)
  const emitted = reEmissions(watches)
  if (errors > 0) throw new Error(`${errors} re-runs failed`)
  if (makes === 'same' && emitted > 0) throw new Error(`${emitted} values though none changed`)
  if (makes === 'changed' && watches.some(({ emissions }) => emissions < 2))
    throw new Error('not every live query has shown a change')
  if (queries.length > 0 && reruns === 0) throw new Error('no live query has run again')
  await assertUpToDate(db, watches, queries)
  stopAll(watches)
  await quiet(db)
  return { ...sampled, reruns: reruns / writes }
}
