import { setTimeout as sleep } from 'node:timers/promises'
import { sample } from '../../measure.mjs'
import { summary } from '../../summary.mjs'
import { emptyLog } from '../counters.mjs'
import { count, time, times } from '../figure.mjs'
import { each, turn } from '../turns.mjs'
import { shapes } from './shapes.mjs'

const sizesOf = (quick) => (quick ? [1_000, 10_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000])
/** What larger sizes are compared with. */
const base = 10_000
/** Milliseconds of one round, and of all rounds of a query that takes very long. */
const [perRound, perChange] = [100, 6_000]
const mostOps = 200
const wholeRounds = 3
/** So many runs are tried before a query counts as one that is not maintained. */
const firstRuns = 5

/**
 * The same live query on tables of several sizes. Each commit changes one row; its patch, without the list, is awaited
 * before the next one.
 */
const growthOf = ({ id, title, ...shape }) => ({
  id: `live-growth-${id}`,
  version: 'v1',
  title: `${title}; one row of a table that grows is changed per commit`,
  async measure({ open, quick, rounds }) {
    const figures = {}
    const engine = {}
    for (const size of sizesOf(quick)) {
      const db = await open(String(size))
      await db.exec(shape.tables(size))
      await emptyLog(db)
      for (const [name, samples] of Object.entries(await measureChanges(db, shape, size, rounds))) {
        Object.assign(figures, figuresOf(name, size, samples, shape.changes[name]))
        engine[name] ??= {}
        engine[name][size] = summary(each(samples.maintained, 'engine')).median
      }
      await db.close()
    }
    for (const [name, ofSize] of Object.entries(engine)) Object.assign(figures, growthFigure(name, ofSize))
    return figures
  },
})

export const growth = shapes.map(growthOf)

/** Where no value comes, the main thread polls until the query has run: its time says nothing. */
function figuresOf(change, size, { maintained, whole }, { rows }) {
  const what = (measure) => `${change}, ${size.toLocaleString('en')} rows: ${measure}`
  const end = rows > 0 ? 'value' : 'end of the run'
  const main = { main: time(what('main thread'), each(maintained, 'cpu')) }
  const figures = {
    engine: time(what('engine per commit'), each(maintained, 'engine')),
    native: time(what('CPU of all native threads'), each(maintained, 'native')),
    wall: time(what(`call → ${end}`), each(maintained, 'wall')),
    ...(rows > 0 ? main : {}),
    whole: time(what('engine, run as a whole'), each(whole, 'engine')),
    wholeWall: time(what(`call → ${end}, run as a whole`), each(whole, 'wall')),
    share: count(what('share of runs that were maintained'), each(maintained, 'share'), { better: 'higher' }),
  }
  return Object.fromEntries(Object.entries(figures).map(([id, figure]) => [`${change}${size}${id}`, figure]))
}

function growthFigure(change, engine) {
  const to = Math.max(...Object.keys(engine).map(Number))
  const title = `${change}: engine time of ${to.toLocaleString('en')} rows ÷ ${base.toLocaleString('en')}`
  return { [`${change}Growth`]: times(title, engine[to] / engine[base], { better: 'lower' }) }
}

async function measureChanges(db, shape, size, rounds) {
  const ids = shape.ids && (await db.select(shape.ids)).map(({ id }) => id)
  const samples = {}
  for (const [name, { sql, params, rows }] of Object.entries(shape.changes)) {
    let i = 0
    const commit = () => db.execute(sql, params(i++, size, ids))
    const run = (maintain, rounds) => changesOf(db, shape, { commit, rows, maintain, rounds })
    samples[name] = { maintained: await run(true, rounds), whole: await run(false, wholeRounds) }
  }
  return samples
}

/** A sample per round, after the commits at which the engine finds out where rows come from. */
async function changesOf(db, { sql, key }, { commit, rows, maintain, rounds }) {
  const live = db.stream(sql, [], { maintain })
  const patches = live.patches({ key, rows: false })
  await patches.next()
  const value = rows > 0 ? () => arrival(patches, rows) : () => nextRun(live)
  const run = async (ops) => {
    for (let i = 0; i < ops; i++) {
      const arrived = value()
      await commit()
      await arrived
    }
  }
  await run(2)
  while (live.stats.maintained === 0 && live.stats.reruns < firstRuns) await run(1)
  const { wall } = await sample({ run }, 1)
  const ops = Math.ceil(Math.min(mostOps, perRound / wall))
  const samples = []
  const start = performance.now()
  while (samples.length < rounds && (samples.length < wholeRounds || performance.now() - start < perChange))
    samples.push(await round(live, run, ops))
  await assertRight(db, live, sql)
  await patches.return()
  await sleep(5) // the engine closes it
  return samples
}

async function arrival(patches, rows) {
  const { added, updated } = (await patches.next()).value
  if (added.length + updated.length !== rows) throw new Error(`${added.length + updated.length} rows arrived`)
}

/** Resolves once the query has run again; its value stays the same. */
async function nextRun(live) {
  const { reruns } = live.stats
  while (live.stats.reruns === reruns) await turn()
}

async function round(live, run, ops) {
  const before = live.stats
  const cpu = process.cpuUsage()
  const own = process.threadCpuUsage()
  const { wall, cpu: main } = await sample({ run }, ops)
  const native = total(process.cpuUsage(cpu)) - total(process.threadCpuUsage(own))
  const now = live.stats
  if (now.reruns - before.reruns !== ops)
    throw new Error(`${now.reruns - before.reruns} runs for ${ops} commits`)
  return {
    wall,
    cpu: main,
    native: native / ops,
    engine: (now.totalMicros - before.totalMicros) / 1000 / ops,
    share: (now.maintained - before.maintained) / ops,
  }
}

const total = ({ user, system }) => (user + system) / 1000

/** Rows that ORDER BY leaves equal may come in another order than in a plain select. */
async function assertRight(db, live, sql) {
  const [shown, selected] = [live.current, await db.select(sql)].map((rows) =>
    rows.map((row) => JSON.stringify(row)).sort(),
  )
  if (shown.length !== selected.length || shown.some((row, i) => row !== selected[i]))
    throw new Error(`not up to date: ${sql}`)
}
