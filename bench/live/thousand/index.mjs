import { setTimeout as sleep } from 'node:timers/promises'
import { cpuNow, cpuSince } from '../../measure.mjs'
import { countedSince, counters, emptyLog, quiet } from '../counters.mjs'
import { count, rate, time } from '../figure.mjs'
import { each, inTurns } from '../turns.mjs'
import { offerChanges } from './changes.mjs'
import { clock } from './clock.mjs'
import { offer, offered } from './offer.mjs'
import { assertRight, openAll, showing } from './shown.mjs'
import { fill } from './tasks.mjs'
import { startWriter } from './writer.mjs'

const seed = 0x1000
const patience = 60_000 // ms

/**
 * Live queries of all kinds, of which each commit concerns a handful. Commits are offered at a fixed rate, whether or not
 * those before are done. Each changes a row, and so a sum, and a fifth of them a list: these values are awaited.
 *
 * The writes come from a worker, so that the main thread has the live queries and nothing else; and, in other phases, from
 * the main thread itself, with and without live queries.
 */
export const thousand = {
  id: 'live-thousand',
  version: 'v2',
  title: `1,000 live queries of all kinds on one table, ${offered.toLocaleString('en')} commits offered per second`,
  async measure({ open, file, quick, rounds }) {
    const [rows, seconds] = quick ? [100_000, 2] : [1_000_000, 10]
    const [plain, db] = [await open('plain'), await open('watched')]
    for (const each of [plain, db]) await fill(each, rows)
    const { shown, opening } = await openAll(db)
    const writer = await startWriter(file('watched'))
    const task = { rows, seconds }
    const phases = {
      timers: () => onlyOffer(seconds),
      none: () => run(plain, [], task, (its) => offerChanges(plain, its)),
      own: () => run(db, shown, task, (its) => offerChanges(db, its)),
      apart: () => run(db, shown, task, writer.offerChanges, { isApart: true }),
    }
    const samples = await inTurns(phases, Math.min(rounds, 3), (phase) => phase())
    await writer.close()
    await quiet(db)
    await assertRight(db, shown)
    return { ...figuresOf(samples), opening: time('opening one of them, all at once', opening) }
  },
}

function figuresOf({ timers, none, own, apart }) {
  const percent = (title, samples, measure = 'main') =>
    count(
      `${title}: % of a core`,
      samples.map((sample) => 100 * sample[measure]),
      { better: 'lower' },
    )
  return {
    commits: rate('commits per second', each(apart, 'commits')),
    median: time('call → value, median', each(apart, 'median')),
    p99: time('call → value, 99th percentile', each(apart, 'p99')),
    written: time('call → reply of a write from the main thread, median', each(own, 'written')),
    writtenAlone: time('the same without live queries, median', each(none, 'written')),
    late: time('last call → last value', each(apart, 'late')),
    main: percent('main thread, writes from another', apart),
    mainWriting: percent('main thread, writes from it', own),
    mainAlone: percent('main thread, writes from it, without live queries', none),
    mainTimers: percent('main thread, the timers of the offer alone', timers),
    native: percent('native threads', apart, 'native'),
    nativeAlone: percent('native threads without live queries', none, 'native'),
    reruns: count('re-runs per commit', each(apart, 'reruns')),
    share: count('share of them that were maintained', each(apart, 'share'), { better: 'higher' }),
    emitted: count('values per commit', each(apart, 'emitted')),
  }
}

let runs = 0

/** `offerThem` offers changes to the file of `db`, in another thread if it `isApart`. Waits for the values that they make. */
async function run(db, shown, task, offerThem, { isApart = false } = {}) {
  await emptyLog(db)
  await quiet(db)
  for (const live of shown) live.values.length = 0
  globalThis.gc()
  const before = await counters(db)
  const start = clock()
  const [main, all] = [cpuNow(), process.cpuUsage()]
  const { writes, lastCall, cpu } = await offerThem({ ...task, seed: seed + runs++ })
  const awaited = values(writes, shown)
  // A value of a maintained result has the number of the commit that made it, so that none is waited for in vain.
  await until(() => awaited.every(({ live, commit }) => live.values.at(-1)?.commit >= commit))
  const [end, mainTime, allTime] = [clock(), cpuSince(main), process.cpuUsage(all)]
  const { reruns, maintained, emitted } = await countedSince(db, before)
  const delays = awaited.map(({ live, commit, called }) => live.shownAt(commit) - called)
  const replies = writes.map(({ called, answered }) => answered - called)
  const elapsed = end - start
  return {
    commits: (1000 * writes.length) / elapsed,
    late: end - lastCall,
    written: at(replies, 0.5),
    median: at(delays, 0.5),
    p99: at(delays, 0.99),
    main: mainTime / elapsed,
    native: ((allTime.user + allTime.system) / 1000 - mainTime - (isApart ? cpu : 0)) / elapsed,
    reruns: reruns / writes.length,
    share: maintained / reruns,
    emitted: emitted / writes.length,
  }
}

/** The values that writes make: each a live query and the commit that it will show. */
function values(writes, shown) {
  const showingRow = showing(shown)
  return writes.flatMap(({ id, commit, called }) => showingRow(id).map((live) => ({ live, commit, called })))
}

/** What it takes to offer nothing at the same rate. */
async function onlyOffer(seconds) {
  const [start, main] = [clock(), cpuNow()]
  await offer(async () => {}, seconds)
  return { main: cpuSince(main) / (clock() - start) }
}

async function until(holds) {
  const start = performance.now()
  while (!holds()) {
    if (performance.now() - start > patience) throw new Error(`values are missing after ${patience / 1000} s`)
    await sleep(1)
  }
}

const at = (values, q) => values.sort((a, b) => a - b)[Math.ceil(values.length * q) - 1] ?? 0
