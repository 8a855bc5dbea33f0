import { sample } from '../measure.mjs'
import { random } from '../random.mjs'
import { sql } from '../reactive/cases/keys.mjs'
import { assertNothingLost, countedSince, counters, quiet } from './counters.mjs'
import { bytes, count, rate, time, times } from './figure.mjs'
import { makeItems, updateItem } from './keys.mjs'
import { memory } from './memory.mjs'
import { each, inTurns, ratio } from './turns.mjs'

const seed = 0xbeef
const watched = 100_000
const unwatched = 10_000
const writes = 3000

/** A11 with very many streams. The updates without streams go to a second file with the same rows. */
export const manyKeys = {
  id: 'live-keys-100k',
  version: 'v1',
  title: `${writes.toLocaleString('en')} updates of random rows, 100,000 live queries of one row by key`,
  async measure({ open, rounds }) {
    const [plain, db] = [await open('plain'), await open('watched')]
    for (const each of [plain, db]) await makeItems(each, watched + unwatched)
    const opened = await openAll(db)
    const pick = random(seed)
    const shown = () => pick(watched) + 1
    const notShown = () => watched + pick(unwatched) + 1
    const phases = {
      none: { db: plain, id: shown, hits: 0 },
      watched: { db, id: shown, hits: writes },
      noneMissed: { db: plain, id: notShown, hits: 0 },
      missed: { db, id: notShown, hits: 0 },
    }
    const samples = await inTurns(phases, rounds, (phase, label) => run(phase, opened.streams, label))
    const { none } = samples
    return {
      baseline: rate(
        'updates/s without live queries',
        none.map(({ wall }) => 1000 / wall),
      ),
      watched: times(
        'updates/s, each of a row that one live query shows ÷ without live queries',
        ratio(none, samples.watched, 'wall'),
        { better: 'higher' },
      ),
      missed: times(
        'updates/s, rows that no live query shows ÷ without live queries',
        ratio(samples.noneMissed, samples.missed, 'wall'),
        { better: 'higher' },
      ),
      watchedMain: times(
        'main-thread time, rows that one live query shows ÷ without',
        ratio(samples.watched, none, 'cpu'),
        { better: 'lower' },
      ),
      excess: count('re-runs − updates of a row that is watched', each(samples.watched, 'excess'), {
        better: 'lower',
      }),
      missedRequeries: count('re-runs for rows that no live query shows', each(samples.missed, 'excess'), {
        better: 'lower',
      }),
      opening: time('opening one live query, all 100,000 at once', opened.perStream),
      rss: bytes('resident memory per open live query', opened.rss),
      native: bytes('of it, outside of the heap of V8', opened.native),
      heap: bytes('heap of V8 per open live query', opened.heap),
    }
  },
}

/** Opens the streams with as little of the benchmark's own as can be, so that the memory is theirs. */
async function openAll(db) {
  await db.select('SELECT * FROM items WHERE id % 7 = 0') // what a first query allocates is not theirs
  const before = await memory()
  const start = performance.now()
  const streams = await new Promise((resolve, reject) => {
    let waiting = watched
    const first = () => {
      if (--waiting === 0) resolve(streams)
    }
    const streams = Array.from({ length: watched }, (_, i) => db.stream(sql, [i + 1]))
    for (const stream of streams) stream.subscribe(first, reject)
  })
  const perStream = (performance.now() - start) / watched
  const after = await memory()
  if ((await counters(db)).open !== watched) throw new Error('not all live queries are open')
  const per = (what) => (after[what] - before[what]) / watched
  return { streams, perStream, rss: per('rss'), native: per('native'), heap: per('heap') }
}

async function run({ db, id, hits }, streams, label) {
  const before = await counters(db)
  const last = new Map()
  const update = async (ops) => {
    for (let i = 0; i < ops; i++) {
      const row = id()
      last.set(row, `${label} ${i}`)
      await updateItem(db, row, `${label} ${i}`, i)
    }
  }
  const sampled = await sample({ run: update }, writes)
  await quiet(db, before, hits)
  const counted = await countedSince(db, before)
  assertNothingLost(counted, hits)
  if (hits > 0) assertShown(streams, last)
  return { ...sampled, excess: counted.reruns - hits }
}

function assertShown(streams, last) {
  for (const [id, body] of last) {
    const [row] = streams[id - 1].current
    if (row.body !== body) throw new Error(`row ${id} shows ${row.body}, not ${body}`)
  }
}
