import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { counters, emptyLog } from '../../live/counters.mjs'
import { reEmissions, stopAll, watchAll } from '../../live/watch.mjs'
import { orderOf } from '../../measure.mjs'
import { Database } from '../../peers/resqlite.mjs'
import { expectedRows, insertSql, makeTouch, parameterSets, shapes } from '../../shapes.mjs'
import { median } from '../figures.mjs'
import { scenario, tables } from '../scenarios.mjs'
import { assertWatched, caughtUp } from '../watched.mjs'

const settings = [1, 2, 4, 8, 16]
const atOnce = [1, 2, 4, 8]
const rows = 1000
const sql = 'SELECT * FROM items ORDER BY id'

const phases = {
  baseline: scenario('a11c-baseline'),
  disjoint: scenario('a11c-disjoint'),
  overlap: scenario('a11c-overlap'),
}
const owners = scenario('a11b')

const lanes = 64
const perLane = 16
/** Calls of which only the points use readers: the others show what idle readers cost the writer. */
const calls = {
  points: (db) => inLanes((i) => point(db, ((i * 7919) % rows) + 1)),
  inserts: (db) => inLanes((i) => db.execute('INSERT INTO t(name, value) VALUES (?, ?)', [`name ${i}`, i])),
  batch: (db) => db.executeBatch('INSERT INTO t(name, value) VALUES (?, ?)', sets),
}
async function point(db, id) {
  const row = await db.selectOne('SELECT * FROM items WHERE id = ?', [id])
  if (row?.id !== id) throw new Error(`not the row ${id}`)
}
const sets = Array.from({ length: rows }, (_, i) => [`name ${i}`, i])

/** Each setting opens the same files anew in each round; the order of the settings alternates. */
export async function measure({ quick, dir }) {
  const files = { main: join(dir, 'sweep.db'), owned: join(dir, 'owned.db') }
  const { standard, cores } = await make(files)
  const { warm, kept, volleys } = quick
    ? { warm: 1, kept: 2, volleys: 5 }
    : { warm: 1, kept: 45, volleys: 10 }
  const samples = new Map(settings.map((readers) => [readers, []]))
  for (let round = 0; round < warm + kept; round++) {
    for (const readers of orderOf(settings, round)) {
      const sample = await measureOne(files, readers, volleys, `${readers} in ${round}`)
      if (round >= warm) samples.get(readers).push(sample)
    }
  }
  return {
    standard,
    cores,
    atOnce,
    rows,
    settings: settings.map((readers) => ({ readers, rounds: samples.get(readers) })),
  }
}

async function make(files) {
  const owned = await Database.open(files.owned)
  await tables.owned(owned)
  await owned.close()
  const db = await Database.open(files.main)
  await tables.wide(db)
  const columns = Object.entries(shapes.items.columns).map(([name, type]) => `${name} ${type}`)
  await db.exec(`CREATE TABLE items (id INTEGER PRIMARY KEY, ${columns.join(', ')})`)
  await db.executeBatch(insertSql('items'), parameterSets('items', rows))
  await db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL)')
  const standard = (await db.diagnostics()).readers.max
  await db.close()
  return { standard, cores: availableParallelism() }
}

/** Writes per second of each phase, ms for each number of selects at once, and µs of each kind of call. */
async function measureOne({ main, owned }, readers, volleys, label) {
  const sample = { writes: {}, reads: {}, calls: {} }
  await opened(main, readers, async (db) => {
    for (const [name, phase] of Object.entries(phases))
      sample.writes[name] = await writesPerSecond(db, phase, `${label}, ${name}`)
    for (const n of atOnce) sample.reads[n] = await readsAtOnce(db, n, volleys)
    for (const name of Object.keys(calls)) sample.calls[name] = await perCall(db, name, volleys)
  })
  await opened(owned, readers, async (db) => {
    sample.writes.owners = await writesPerSecond(db, owners, `${label}, owners`)
  })
  return sample
}

async function opened(file, readers, use) {
  const db = await Database.open(file, { readers })
  try {
    await use(db)
    const { max } = (await db.diagnostics()).readers
    if (max !== readers) throw new Error(`${max} readers instead of ${readers}`)
  } finally {
    await db.close()
  }
}

async function writesPerSecond(db, phase, label) {
  await emptyLog(db) // so that no checkpoint falls into the run
  const watches = await watchAll(db, phase.queries)
  const first = reEmissions(watches)
  const before = await counters(db)
  globalThis.gc()
  await sleep(20)
  const write = phase.writer(label)
  const start = performance.now()
  for (let i = 0; i < phase.writes; i++) await write(db, i)
  const wall = performance.now() - start
  const counted = await caughtUp(db, before, phase)
  await assertWatched(db, phase, watches, counted, reEmissions(watches) - first)
  stopAll(watches)
  return phase.writes / (wall / 1000)
}

const touch = makeTouch('items', 'audits')
const expected = touch(expectedRows('items', rows))

async function readsAtOnce(db, n, volleys) {
  const times = []
  globalThis.gc()
  await sleep(5)
  for (let i = 0; i < volleys; i++) {
    const start = performance.now()
    const results = await Promise.all(Array.from({ length: n }, () => db.select(sql)))
    times.push(performance.now() - start)
    for (const result of results) if (touch(result) !== expected) throw new Error('wrong rows')
  }
  return median(times)
}

/** µs of one call, or of one row of a batch. */
async function perCall(db, name, volleys) {
  await db.execute('DELETE FROM t')
  await emptyLog(db)
  const times = []
  for (let i = 0; i < volleys; i++) {
    const start = performance.now()
    await calls[name](db)
    times.push(performance.now() - start)
  }
  const { n } = await db.selectOne('SELECT count(*) AS n FROM t')
  const each = name === 'batch' ? rows : lanes * perLane
  const expected = name === 'points' ? 0 : volleys * each
  if (n !== expected) throw new Error(`${n} rows instead of ${expected}`)
  return (1000 * median(times)) / each
}

const inLanes = (call) =>
  Promise.all(
    Array.from({ length: lanes }, async (_, lane) => {
      for (let i = 0; i < perLane; i++) await call(lane * perLane + i)
    }),
  )
