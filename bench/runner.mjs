// One workload for all peers: together in this process, taking turns, or each in a process of its own.
import { constants, copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { alternate, calibrate, longestHold, sample } from './measure.mjs'
import { openPeer } from './peers/index.mjs'
import { progress } from './progress.mjs'
import { seed } from './shapes.mjs'

/** `peers`: name → module; `config.pace` has begun this job. Resolves with one entry of `results` of a run. */
export async function measureWorkload(workload, shape, peers, config, dir) {
  const { id, version, group, rate, reactive } = workload
  const rows = config.quick ? (workload.quickRows ?? workload.rows) : workload.rows
  const source = join(dir, `${shape}-${workload.seed ? id : rows}.db`)
  const job = { workload: { ...workload, rows }, shape, peers, config, source }
  progress(`${id} ${shape}: preparing`)
  if (workload.seed) await seedOnce(workload, source, config)
  else if (!reactive) seed(source, shape, rows)
  const began = performance.now()
  const results = await (workload.ownProcess ? measureApart : measureTogether)(job)
  progress(`${id} ${shape}: ${((performance.now() - began) / 1000).toFixed(1)} s`, true)
  const title = titled(workload.title, rows)
  const ordered = Object.fromEntries([...peers.keys()].map((name) => [name, results[name]]))
  return { id, version, group, title, shape, rate, measures: workload.measures, peers: ordered }
}

export const titled = (title, rows) => title.replace('{rows}', rows?.toLocaleString('en'))

async function seedOnce(workload, source, { quick }) {
  if (!existsSync(source)) await workload.seed(source, { quick })
}

/** All peers in this process, taking turns, each with its own copy of the file. */
async function measureTogether({ workload, shape, peers, config, source }) {
  const results = {}
  const tasks = new Map()
  const open = []
  const named = `${workload.id} ${shape}`
  for (const [name, peer] of peers) {
    try {
      progress(`${named}: warming up ${name}`)
      const file = ownCopy(source, `${workload.id}-${open.length}`)
      const session = await openSession(peer, file, workload)
      open.push({ session, file })
      const context = { quick: config.quick, file }
      const task = await workload.prepare(session, shape, name, context)
      if (!task) results[name] = { cannot: true }
      else tasks.set(name, await warmedUp(task, config))
    } catch (error) {
      results[name] = failure(named, name, error)
    }
  }
  const rounds = workload.fewer ? Math.ceil(config.rounds / 5) : config.rounds
  const inRounds = (count, one, what) =>
    alternate([...tasks.keys()], count, (name) => one(tasks.get(name)), {
      progress: (round, name) => progress(`${named}: ${what} ${round + 1} of ${count}, ${name}`),
      mostRounds: (name) => tasks.get(name).rounds ?? count,
      goesOn: (round) => config.pace.goesOn(round),
    })
  const measured = await inRounds(
    rounds,
    (task) => (task.measure ? task.measure() : sample(task, task.ops)),
    'round',
  )
  const held = await inRounds(Math.ceil(rounds / 3), holdOf, 'looking at the event loop')
  for (const [name, samples] of measured) {
    if (samples instanceof Error) results[name] = failure(named, name, samples)
    else results[name] = { ops: tasks.get(name).ops, samples, delays: delaysOf(held.get(name)) }
  }
  for (const { session, file } of open) await closed(session, file)
  return results
}

/** Copies, because two builds of SQLite in one process must not share a file: closing it in one drops the locks of the other. */
function ownCopy(source, name) {
  const file = `${source}-${name}.db`
  if (existsSync(source)) copyFileSync(source, file, constants.COPYFILE_FICLONE)
  return file
}

const openSession = (peer, file, { reactive, synchronous = 'NORMAL' }) =>
  reactive ? peer.open(file, { synchronous }) : openPeer(peer, file, synchronous)

async function warmedUp(task, { sampleMs }) {
  if (task.measure) await task.warmUp?.()
  else task.ops = await calibrate(task, sampleMs)
  return task
}

const holdOf = (task) => (task.measure ? undefined : longestHold(task))

function delaysOf(held) {
  if (held instanceof Error) throw held
  const delays = held.filter((delay) => delay !== undefined)
  return delays.length > 0 ? delays : undefined
}

async function closed(session, file) {
  await session.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true, recursive: true })
}

/** Each peer in a process of its own, one after the other. */
async function measureApart({ workload, shape, peers, config, source }) {
  const results = {}
  for (const name of peers.keys()) {
    progress(`${workload.id} ${shape}: ${name}`)
    try {
      const measured = await workload.measure(name, source, shape, workload.rows, config)
      results[name] = measured ? { samples: [measured].flat() } : { cannot: true }
    } catch (error) {
      results[name] = failure(`${workload.id} ${shape}`, name, error)
    }
  }
  return results
}

export function failure(what, name, error) {
  progress(`${what}: ${name} failed: ${error.stack}`, true)
  return { error: error.message }
}
