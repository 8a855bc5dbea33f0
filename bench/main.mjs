// Runs the chosen workloads for the chosen peers and prints the report.
import { constants, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runChild } from './child.mjs'
import { liveWorkloads } from './live/index.mjs'
import { describeMachine } from './machine.mjs'
import { alternate, calibrate, checkMeter, sample } from './measure.mjs'
import { loadPeer, openPeer, peerNames } from './peers/index.mjs'
import { report } from './report.mjs'
import { seed } from './shapes.mjs'
import { workloads } from './workloads/index.mjs'

const profiled = process.execArgv.some((option) => option.startsWith('--cpu-prof'))

export async function main(argv) {
  let config
  try {
    config = configure(argv)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 2
    return
  }
  const dir = fileURLToPath(new URL(`./data/${process.pid}`, import.meta.url))
  mkdirSync(dir, { recursive: true })
  try {
    if (profiled)
      console.error('Profiled: the main-thread columns mean nothing (the profiler wakes the sleeping loop).')
    else await checkMeter()
    const machine = await describeMachine(dir)
    const peers = await loadPeers(config.peers)
    const results = []
    for (const { workload, shape } of config.jobs) {
      results.push(await measureWorkload(workload, shape, peers, config, dir))
    }
    const live = []
    for (const workload of config.live) live.push(await measureLive(workload, config, dir))
    const run = { machine, quick: config.quick, versions: await versionsOf(peers, dir), results, live }
    if (config.json) writeFileSync(config.json, JSON.stringify(run, null, 1))
    console.log(report(run))
    const failed = [...results.flatMap((result) => Object.values(result.peers)), ...live].some(
      ({ error }) => error,
    )
    if (failed) process.exitCode = 1
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function configure(argv) {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true },
      peers: { type: 'string' },
      rounds: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const { quick, json } = values
  const only = values.only?.flatMap((list) => list.split(','))
  const isChosen = ({ id }) => !only || only.some((name) => id === name || id.startsWith(`${name}-`))
  const [chosen, live] = [workloads.filter(isChosen), liveWorkloads.filter(isChosen)]
  if (chosen.length + live.length === 0)
    throw new Error(
      `no such workload; there are ${[...workloads, ...liveWorkloads].map(({ id }) => id).join(', ')}`,
    )
  const peers = values.peers?.split(',') ?? (chosen.length > 0 ? peerNames : ['resqlite'])
  const unknown = peers.filter((name) => !peerNames.includes(name))
  if (unknown.length > 0) throw new Error(`no such peer: ${unknown}; there are ${peerNames.join(', ')}`)
  return {
    quick,
    json,
    peers,
    live: peers.includes('resqlite') ? live : [],
    jobs: chosen.flatMap((workload) => workload.shapes.map((shape) => ({ workload, shape }))),
    rounds: Number(values.rounds ?? (quick ? 5 : 15)),
    sampleMs: quick ? 30 : 120,
  }
}

/** Peers that are not installed are left out with a word about it. */
async function loadPeers(names) {
  const peers = new Map()
  for (const name of names) {
    try {
      peers.set(name, await loadPeer(name))
    } catch (error) {
      console.error(`${name} is left out: ${error.message}`)
    }
  }
  return peers
}

async function versionsOf(peers, dir) {
  const versions = {}
  for (const [name, peer] of peers) {
    const file = join(dir, `version-${Object.keys(versions).length}.db`)
    const session = await openPeer(peer, file, 'NORMAL')
    const statement = await session.prepare('SELECT sqlite_version() AS version')
    const { version: sqlite } = await statement.get([])
    versions[name] = { version: peer.version, sqlite, cacheSize: await session.pragma('cache_size') }
    await session.close()
  }
  return versions
}

async function measureWorkload(workload, shape, peers, config, dir) {
  const rows = config.quick ? (workload.quickRows ?? workload.rows) : workload.rows
  const source = join(dir, `${shape}-${rows}.db`)
  progress(`${workload.id} ${shape}: preparing`)
  seed(source, shape, rows)
  const measure = workload.ownProcess ? measureApart : measureTogether
  const measured = await measure({ ...workload, rows }, shape, peers, config, source)
  progress(`${workload.id} ${shape}: done`, true)
  const title = workload.title.replace('{rows}', rows.toLocaleString('en'))
  return { id: workload.id, title, shape, rate: workload.rate, peers: inOrder(measured, peers) }
}

const inOrder = (results, peers) => Object.fromEntries([...peers.keys()].map((name) => [name, results[name]]))

/** All peers in this process, taking turns, each with its own copy of the file. */
async function measureTogether(workload, shape, peers, config, source) {
  const sessions = []
  const results = {}
  const tasks = new Map()
  for (const [name, peer] of peers) {
    const file = `${source}-${sessions.length}-${workload.id}.db`
    try {
      // Copies, because two builds of SQLite in one process must not share a file:
      // closing it in one drops the locks of the other.
      copyFileSync(source, file, constants.COPYFILE_FICLONE)
      const session = await openPeer(peer, file, workload.synchronous ?? 'NORMAL')
      sessions.push({ session, file })
      const task = await workload.prepare(session, shape, name)
      if (!task) {
        results[name] = { cannot: true }
        continue
      }
      progress(`${workload.id} ${shape}: warming up ${name}`)
      if (!task.measure) task.ops = await calibrate(task, config.sampleMs)
      tasks.set(name, task)
    } catch (error) {
      results[name] = failure(workload, name, error)
    }
  }
  const one = (name) => {
    const task = tasks.get(name)
    return task.measure ? task.measure() : sample(task, task.ops)
  }
  const rounds = workload.slow ? Math.ceil(config.rounds / 5) : config.rounds
  const measured = await alternate([...tasks.keys()], rounds, one, (round, name) =>
    progress(`${workload.id} ${shape}: round ${round + 1} of ${rounds}, ${name}`),
  )
  for (const [name, samples] of measured) {
    results[name] =
      samples instanceof Error ? failure(workload, name, samples) : { ops: tasks.get(name).ops, samples }
  }
  for (const { session, file } of sessions) {
    await session.close()
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true })
  }
  return results
}

/** Each peer in a process of its own, one after the other. */
async function measureApart(workload, shape, peers, _config, source) {
  const results = {}
  for (const name of peers.keys()) {
    progress(`${workload.id} ${shape}: ${name}`)
    try {
      const sample = await workload.measure(name, source, shape, workload.rows)
      results[name] = sample ? { samples: [sample] } : { cannot: true }
    } catch (error) {
      results[name] = failure(workload, name, error)
    }
  }
  return results
}

const liveChild = fileURLToPath(new URL('./live/child.mjs', import.meta.url))
const livePatience = 600_000 // ms

/** A workload of live queries, in a process of its own. */
async function measureLive({ id, version, title }, config, dir) {
  progress(`${id}: running`)
  const { quick, rounds } = config
  const options = { execArgv: process.execArgv, timeout: livePatience }
  try {
    const figures = await runChild(liveChild, [id, dir, JSON.stringify({ quick, rounds })], options)
    progress(`${id}: done`, true)
    return { id, version, title, figures }
  } catch (error) {
    return { id, version, title, ...failure({ id }, 'resqlite', error) }
  }
}

function failure(workload, name, error) {
  progress(`${workload.id}: ${name} failed: ${error.stack}`, true)
  return { error: error.message }
}

function progress(text, keep = false) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}${keep ? '\n' : ''}`)
  else if (keep) process.stderr.write(`${text}\n`)
}
