import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, calibrate, checkMeter, sample } from '../../measure.mjs'
import { loadPeer, openPeer } from '../../peers/index.mjs'
import { assertRows, expectedRows, makeTouch, seed } from '../../shapes.mjs'
import { oneByOne } from '../../workloads/calls.mjs'

const names = ['resqlite', 'better-sqlite3 in a worker', 'better-sqlite3']
const rapid = 500
const sizes = [1, 10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000]

/** resqlite; better-sqlite3 in a worker_thread, which clones its results; better-sqlite3 on the main thread. */
export async function measure({ quick, dir }) {
  const most = quick ? 2000 : sizes.at(-1)
  const { rounds, sampleMs } = quick ? { rounds: 3, sampleMs: 10 } : { rounds: 9, sampleMs: 50 }
  await checkMeter()
  const sessions = await openAll(dir, most)
  const small = await inTurns(sessions, rounds, async (session, name) => ({
    ...(await points(session, name, most)),
    ops: rapid,
  }))
  const results = []
  for (const rows of sizes.filter((rows) => rows <= most)) {
    const peers = await inTurns(sessions, rounds, async (session, name) => {
      const task = await selectOf(session, name, rows)
      return { ...task, ops: await calibrate(task, sampleMs) }
    })
    results.push({ rows, peers })
  }
  for (const session of sessions.values()) await session.close()
  return { rapid: { calls: rapid, peers: small }, sizes: results }
}

/** Each with a file of its own: two builds of SQLite in one process must not share one. */
async function openAll(dir, rows) {
  const source = join(dir, 'source.db')
  seed(source, 'items', rows)
  const sessions = new Map()
  for (const [i, name] of names.entries()) {
    const file = join(dir, `${i}.db`)
    copyFileSync(source, file)
    sessions.set(name, await openPeer(await loadPeer(name), file, 'NORMAL'))
  }
  return sessions
}

/** → name → samples in ms per operation. */
async function inTurns(sessions, rounds, prepare) {
  const tasks = new Map()
  for (const [name, session] of sessions) {
    const task = await prepare(session, name)
    await sample(task, task.ops)
    tasks.set(name, task)
  }
  const measured = await alternate([...tasks.keys()], rounds, (name) => {
    const task = tasks.get(name)
    return sample(task, task.ops)
  })
  for (const samples of measured.values()) if (samples instanceof Error) throw samples
  return Object.fromEntries(measured)
}

async function points(session, name, rows) {
  const statement = await session.prepare('SELECT * FROM items WHERE id = ?')
  assertRows('items', [await statement.get([1])], 1)
  const touch = makeTouch('items', name)
  const expected = expectedRows('items', rows).map((row) => touch([row]))
  const key = (i) => ((i * 7919) % rows) + 1
  const check = (row, i) => {
    if (touch([row]) !== expected[key(i) - 1]) throw new Error(`wrong row for ${key(i)}`)
  }
  return { run: oneByOne(session, (i) => statement.get([key(i)]), check) }
}

async function selectOf(session, name, rows) {
  const statement = await session.prepare('SELECT * FROM items WHERE id <= ? ORDER BY id')
  assertRows('items', await statement.all([rows]), rows)
  const touch = makeTouch('items', name)
  const expected = touch(expectedRows('items', rows))
  const check = (result) => {
    if (touch(result) !== expected) throw new Error('wrong rows')
  }
  return { run: oneByOne(session, () => statement.all([rows]), check) }
}
