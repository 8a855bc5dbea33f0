// What the command line asks for: a run, a comparison of two, the page of all.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChild } from './child.mjs'
import { compareFiles } from './judge/cli.mjs'
import { describeMachine } from './machine.mjs'
import { checkMeter } from './measure.mjs'
import { optionsFrom } from './options.mjs'
import { Pace } from './pace.mjs'
import { makePage } from './page/index.mjs'
import { loadPeer, openPeer, peerNames } from './peers/index.mjs'
import { progress } from './progress.mjs'
import { loadReactivePeer, reactivePeerNames } from './reactive/peers/index.mjs'
import { withRepeated } from './repeat.mjs'
import { report } from './report.mjs'
import { failure, measureWorkload, titled } from './runner.mjs'
import { stolenBetween, ticks } from './stolen.mjs'
import { readRun, schema, storedRuns, storeRun, Unreadable, writeRun } from './store.mjs'

const modes = { run, compare, report: page, list }

export async function main(argv) {
  let options
  try {
    options = optionsFrom(argv)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 2
    return
  }
  try {
    await modes[options.mode](options)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    console.error(error.message)
    process.exitCode = 2
  }
}

function list({ workloads }) {
  for (const { id, version, group = 'live', slow, title, rows } of workloads)
    console.log(
      `${id.padEnd(28)} ${version}  ${group.padEnd(12)} ${titled(title, rows)}${slow ? ' (slow)' : ''}`,
    )
}

async function compare({ files, peer, failOnRegression }) {
  const { text, regressions } = await compareFiles(...files, { peer })
  console.log(text)
  if (failOnRegression && regressions > 0) process.exitCode = 1
}

async function page({ files, out = fileURLToPath(new URL('./data/report.html', import.meta.url)) }) {
  const runs = files.length > 0 ? files.map(readRun) : storedRuns()
  if (runs.length === 0) throw new Unreadable('no stored run yet; `npm run bench` makes one')
  await makePage(runs, { out })
  console.log(out)
}

async function run(options) {
  const stored = options.into && readRun(options.into)
  const dir = fileURLToPath(new URL(`./data/${process.pid}`, import.meta.url))
  mkdirSync(dir, { recursive: true })
  try {
    const now = await measured(options, dir)
    const run = stored ? withRepeated(stored, now) : now
    const file = options.into ?? storeRun(run, options)
    if (stored) writeRun(file, run)
    if (options.json) writeRun(options.json, run)
    console.log(report(run))
    progress(`Stored as ${file}. \`npm run bench -- --report\` makes a page of it.`, true)
    if (failures(run).length > 0) process.exitCode = 1
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function measured({ jobs, live, peers: names, label, quick, partial, time, ...config }, dir) {
  await meterChecked()
  const machine = await describeMachine(dir)
  const before = ticks()
  const chosen = (all) => names.filter((name) => all.includes(name))
  const peers = await loadAll(
    jobs.some(({ workload }) => !workload.reactive) ? chosen(peerNames) : [],
    loadPeer,
  )
  const reactive = await loadAll(
    jobs.some(({ workload }) => workload.reactive) ? chosen(reactivePeerNames) : [],
    loadReactivePeer,
  )
  const run = { schema, label, quick, partial, commit: commit(), machine }
  run.versions = { ...versionsOfReactive(reactive), ...(await versionsOf(peers, dir)) }
  const pace = new Pace(jobs.length + live.length, time)
  run.results = []
  for (const { workload, shape } of jobs) {
    const these = workload.reactive ? reactive : peers
    pace.begin()
    run.results.push(await measureWorkload(workload, shape, these, { quick, pace, ...config }, dir))
  }
  run.live = []
  for (const workload of live) {
    pace.begin()
    const rounds = pace.roundsOf(config.rounds)
    run.live.push(await measureLive(workload, { quick, rounds }, dir))
  }
  Object.assign(machine, { loadAtEnd: os.loadavg()[0], stolen: stolenBetween(before, ticks()) })
  return run
}

async function meterChecked() {
  if (process.execArgv.some((option) => option.startsWith('--cpu-prof')))
    progress('Profiled: the main-thread columns mean nothing (the profiler wakes the sleeping loop).', true)
  else await checkMeter()
}

/** Peers that are not installed are left out with a word about it. */
async function loadAll(names, load) {
  const peers = new Map()
  for (const name of names) {
    try {
      peers.set(name, await load(name))
    } catch (error) {
      progress(`${name} is left out: ${error.message}`, true)
    }
  }
  return peers
}

async function versionsOf(peers, dir) {
  const versions = {}
  for (const [name, peer] of peers) {
    try {
      const file = join(dir, `version-${Object.keys(versions).length}.db`)
      const session = await openPeer(peer, file, 'NORMAL')
      const statement = await session.prepare('SELECT sqlite_version() AS version')
      const { version: sqlite } = await statement.get([])
      versions[name] = { version: peer.version, sqlite, cacheSize: await session.pragma('cache_size') }
      await session.close()
    } catch (error) {
      progress(`${name} is left out: ${error.message}`, true)
      peers.delete(name)
    }
  }
  return versions
}

const versionsOfReactive = (peers) =>
  Object.fromEntries([...peers].map(([name, { version }]) => [name, { version }]))

function commit() {
  const git = (...args) =>
    spawnSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).stdout?.trim()
  const changed = git('status', '--porcelain', '--untracked-files=no') ? ', with changes' : ''
  return `${git('rev-parse', '--short', 'HEAD') || 'unknown'}${changed}`
}

const liveChild = fileURLToPath(new URL('./live/child.mjs', import.meta.url))
const livePatience = 600_000 // ms

/** A workload of live queries, in a process of its own. */
async function measureLive({ id, version, title }, { quick, rounds }, dir) {
  progress(`${id}: running`)
  const began = performance.now()
  const options = { execArgv: process.execArgv, timeout: livePatience }
  try {
    const figures = await runChild(liveChild, [id, dir, JSON.stringify({ quick, rounds })], options)
    progress(`${id}: ${((performance.now() - began) / 1000).toFixed(1)} s`, true)
    return { id, version, title, figures }
  } catch (error) {
    return { id, version, title, ...failure(id, 'resqlite', error) }
  }
}

const failures = ({ results, live }) =>
  [...results.flatMap(({ peers }) => Object.values(peers)), ...live].filter(({ error }) => error)
