import { setTimeout as sleep } from 'node:timers/promises'
import { random } from '../random.mjs'
import { countedSince, counters, emptyLog, quiet } from './counters.mjs'
import { count, rate, time } from './figure.mjs'
import { each, inTurns } from './turns.mjs'

const seed = 0x1000
const [owners, categories, states] = [1000, 200, 8]
const offered = 1000 // commits per second
const patience = 60_000 // ms
const columns = 'tasks.id, tasks.name, tasks.score'

/** [number, SQL]: each kind of live query, for the first owners or categories. */
const kinds = {
  list: [200, `SELECT ${columns} FROM tasks WHERE owner = ? ORDER BY id`],
  count: [200, 'SELECT count(*) AS n FROM tasks WHERE category = ? AND active = 1'],
  sum: [200, 'SELECT sum(score) AS total FROM tasks WHERE category = ?'],
  groups: [
    150,
    'SELECT state, count(*) AS n, sum(score) AS total FROM tasks WHERE category = ? GROUP BY state',
  ],
  top: [150, `SELECT ${columns} FROM tasks WHERE category = ? ORDER BY score DESC, id LIMIT 20`],
  join: [
    100,
    `SELECT ${columns}, owners.name AS owner FROM tasks JOIN owners ON owners.id = tasks.owner WHERE tasks.owner = ?`,
  ],
}

const queries = Object.entries(kinds).flatMap(([kind, [number, sql]]) =>
  Array.from({ length: number }, (_, i) => ({ kind, sql, params: [i] })),
)

/**
 * Live queries of all kinds, of which each commit concerns a handful. Commits are offered at a fixed rate, whether or not
 * those before are done. Each changes a row, and so a sum, and a fifth of them a list: these values are awaited.
 */
export const thousand = {
  id: 'live-thousand',
  version: 'v1',
  title: `1,000 live queries of all kinds on one table, ${offered.toLocaleString('en')} commits offered per second`,
  async measure({ open, quick, rounds }) {
    const [rows, seconds] = quick ? [100_000, 2] : [1_000_000, 10]
    const [plain, db] = [await open('plain'), await open('watched')]
    for (const each of [plain, db]) await fill(each, rows)
    const { shown, opening } = await openAll(db)
    const phases = { timers: undefined, none: { db: plain, shown: [] }, watched: { db, shown } }
    const pick = random(seed)
    const samples = await inTurns(phases, Math.min(rounds, 3), (phase) =>
      phase === undefined ? onlyOffer(seconds) : run(phase, { rows, seconds, pick }),
    )
    await assertRight(db, shown)
    return { ...figuresOf(samples), opening: time('opening one of them, all at once', opening) }
  },
}

function figuresOf({ timers, none, watched }) {
  const percent = (samples, measure) => samples.map((sample) => 100 * sample[measure])
  return {
    commits: rate('commits per second', each(watched, 'commits')),
    median: time('call → value, median', each(watched, 'median')),
    p99: time('call → value, 99th percentile', each(watched, 'p99')),
    written: time('call → reply of a write, median', each(watched, 'written')),
    writtenAlone: time('call → reply of a write without live queries, median', each(none, 'written')),
    late: time('last call → last value', each(watched, 'late')),
    main: count('main thread: % of a core', percent(watched, 'main'), { better: 'lower' }),
    mainAlone: count('main thread without live queries: % of a core', percent(none, 'main'), {
      better: 'lower',
    }),
    mainTimers: count('main thread for the timers of the offer alone: % of a core', percent(timers, 'main'), {
      better: 'lower',
    }),
    native: count('native threads: % of a core', percent(watched, 'native'), { better: 'lower' }),
    nativeAlone: count('native threads without live queries: % of a core', percent(none, 'native'), {
      better: 'lower',
    }),
    reruns: count('re-runs per commit', each(watched, 'reruns')),
    share: count('share of them that were maintained', each(watched, 'share'), { better: 'higher' }),
    emitted: count('values per commit', each(watched, 'emitted')),
  }
}

async function fill(db, rows) {
  await db.exec(`
    CREATE TABLE owners(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE tasks(
      id INTEGER PRIMARY KEY, owner INTEGER, category INTEGER, state INTEGER, score INTEGER, name TEXT, active INTEGER
    );
    INSERT INTO owners SELECT value, 'owner ' || value FROM generate_series(0, ${owners - 1});
    INSERT INTO tasks SELECT value, value % ${owners}, value * 7 % ${categories}, value * 13 % ${states},
      (value * 7919) % 1000003, 'task ' || value, value % 5 = 0
    FROM generate_series(1, ${rows});
    CREATE INDEX tasks_by_owner ON tasks(owner);
    CREATE INDEX tasks_by_category ON tasks(category);
  `)
}

const ownerOf = (id) => id % owners
const categoryOf = (id) => (id * 7) % categories
const change = 'UPDATE tasks SET score = score + 1, active = 1 - active WHERE id = ?'

/** A live query, and the writes whose value it has not shown yet. */
class Shown {
  rows
  #commit = 0
  #at = 0
  #awaited = []

  constructor(db, query, first, fail) {
    this.query = query
    db.stream(query.sql, query.params).subscribe((rows, { commit }) => {
      this.rows = rows
      this.#commit = commit
      this.#at = performance.now()
      first()
      this.#settle()
    }, fail)
  }

  /** `delay(ms)` is called when a value is there that contains the commit of a write that was called at `start`. */
  expect(commit, start, delay) {
    this.#awaited.push({ commit, start, delay })
    this.#settle()
  }

  get waits() {
    return this.#awaited.length > 0
  }

  #settle() {
    if (!this.waits) return
    const shows = ({ commit }) => commit <= this.#commit
    for (const { start, delay } of this.#awaited.filter(shows)) delay(this.#at - start)
    this.#awaited = this.#awaited.filter((write) => !shows(write))
  }
}

async function openAll(db) {
  const start = performance.now()
  const shown = await new Promise((resolve, reject) => {
    const waiting = new Set(queries)
    const shown = queries.map(
      (query) =>
        new Shown(db, query, () => waiting.delete(query) && waiting.size === 0 && resolve(shown), reject),
    )
  })
  return { shown, opening: (performance.now() - start) / queries.length }
}

/** id → the live queries that show the row for sure. */
function showing(shown) {
  const { sum = [], list = [] } = Object.groupBy(shown, ({ query }) => query.kind)
  return (id) => [sum[categoryOf(id)], list[ownerOf(id)]].filter((live) => live !== undefined)
}

async function run({ db, shown }, { rows, seconds, pick }) {
  await emptyLog(db)
  await quiet(db)
  globalThis.gc()
  const before = await counters(db)
  const showingRow = showing(shown)
  const [delays, replies] = [[], []]
  const write = async () => {
    const id = 1 + pick(rows)
    const start = performance.now()
    const { commit } = await db.execute(change, [id])
    replies.push(performance.now() - start)
    for (const live of showingRow(id)) live.expect(commit, start, (delay) => delays.push(delay))
  }
  const meter = cpuMeter()
  const { writes, wall } = await offer(write, seconds)
  await until(() => !shown.some(({ waits }) => waits))
  const elapsed = performance.now() - meter.start
  const cpu = meter.read()
  const { reruns, maintained, emitted } = await countedSince(db, before)
  return {
    commits: (1000 * writes) / elapsed,
    late: elapsed - wall,
    written: at(replies, 0.5),
    median: at(delays, 0.5),
    p99: at(delays, 0.99),
    main: cpu.main / elapsed,
    native: cpu.native / elapsed,
    reruns: reruns / writes,
    share: maintained / reruns,
    emitted: emitted / writes,
  }
}

/** What it takes to offer nothing at the same rate. */
async function onlyOffer(seconds) {
  const meter = cpuMeter()
  await offer(async () => {}, seconds)
  return { main: meter.read().main / (performance.now() - meter.start) }
}

/** Calls `write` at the offered rate. Resolves when all replies are there; `wall`: ms until the last call. */
async function offer(write, seconds) {
  const replies = []
  const start = performance.now()
  const total = seconds * offered
  while (replies.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - start) * offered) / 1000))
    while (replies.length < due) replies.push(write())
    await sleep(1)
  }
  const wall = performance.now() - start
  await Promise.all(replies)
  return { writes: total, wall }
}

async function until(holds) {
  const start = performance.now()
  while (!holds()) {
    if (performance.now() - start > patience) throw new Error(`values are missing after ${patience / 1000} s`)
    await sleep(1)
  }
}

/** CPU time (ms) from now on: of this thread, and of all others of the process. */
function cpuMeter() {
  const total = ({ user, system }) => (user + system) / 1000
  const [all, own] = [process.cpuUsage(), process.threadCpuUsage()]
  const read = () => {
    const main = total(process.threadCpuUsage(own))
    return { main, native: total(process.cpuUsage(all)) - main }
  }
  return { start: performance.now(), read }
}

const at = (values, q) => values.sort((a, b) => a - b)[Math.ceil(values.length * q) - 1] ?? 0

/** Rows that ORDER BY leaves equal may come in another order than in a plain select. */
async function assertRight(db, shown) {
  const texts = (rows) => JSON.stringify(rows.map((row) => JSON.stringify(row)).sort())
  await quiet(db)
  for (const { rows, query } of shown) {
    if (texts(rows) !== texts(await db.select(query.sql, query.params)))
      throw new Error(`not up to date: ${query.sql} of ${query.params}`)
  }
}
