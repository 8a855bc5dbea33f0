// node child.mjs <plan as JSON>: measures workloads with several builds of resqlite in this process, taking turns, and prints
//   [{ benchmark, workload, version, title, measure, values: { side: [ms per operation, one per round] } }]
// or `error` instead of `measure` and `values`. The plan: { jobs: [{ id, shape }], packages: { side: folder }, order: [sides],
// rounds, sampleMs, quick, dir }; `order` is that of loading and of the first round.
import { constants, copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { alternate, calibrate, sample } from '../measure.mjs'
import { openPeer } from '../peers/index.mjs'
import { reactiveWorkloads } from '../reactive/index.mjs'
import { seed } from '../shapes.mjs'
import { workloads } from '../workloads/index.mjs'

const judged = ['wall', 'main', 'cpu']
const { jobs, packages, order, ...config } = JSON.parse(process.argv[2])

const every = [...workloads, ...reactiveWorkloads]
const peers = new Map()
for (const side of order) peers.set(side, await loadBuild(packages[side]))
const measured = []
for (const { id, shape } of jobs) {
  const workload = every.find((workload) => workload.id === id)
  const about = {
    benchmark: `${id} · ${shape}`,
    workload: id,
    version: workload.version,
    title: workload.title,
  }
  for (const one of await measuredOrFailed(workload, shape)) measured.push({ ...about, ...one })
}
console.log(JSON.stringify(measured))

/** Module instances of its own for each build, so that no inline cache is shared. */
async function loadBuild(folder) {
  const load = (module) => {
    const url = new URL(module, import.meta.url)
    url.searchParams.set('package', pathToFileURL(`${folder}/`))
    return import(url)
  }
  const peer = await load('../peers/resqlite.mjs')
  return { peer, reactive: await load('../reactive/peers/resqlite.mjs') }
}

async function measuredOrFailed(workload, shape) {
  const open = []
  try {
    const samples = await measuredTogether(workload, shape, open)
    return judged
      .map((measure) => ({ measure, values: valuesOf(samples, measure) }))
      .filter(({ values }) => Object.values(values).flat().every(Number.isFinite))
  } catch (error) {
    return [{ error: error.stack }]
  } finally {
    for (const { session, file } of open) await closed(session, file)
  }
}

/** Side → samples, one per round. */
async function measuredTogether(workload, shape, open) {
  const source = await sourceOf(workload, shape)
  const tasks = new Map()
  for (const side of order) {
    const file = ownCopy(source, side)
    const session = await openSession(side, file, workload)
    open.push({ session, file })
    const task = await workload.prepare(session, shape, 'resqlite', { quick: config.quick, file })
    if (!task) throw new Error(`${side} cannot do it`)
    tasks.set(side, task)
  }
  const ops = await warmedUp([...tasks.values()])
  const one = (side) => measuredOnce(tasks.get(side), ops)
  const wanted = workload.fewer ? Math.ceil(config.rounds / 5) : config.rounds
  const rounds = Math.min(wanted, ...[...tasks.values()].map((task) => task.rounds ?? wanted))
  const samples = await alternate(order, rounds, one)
  for (const [side, found] of samples)
    if (found instanceof Error) throw new Error(`${side}: ${found.message}`, { cause: found })
  return samples
}

function openSession(side, file, { reactive, synchronous = 'NORMAL' }) {
  const build = peers.get(side)
  return reactive ? build.reactive.open(file, { synchronous }) : openPeer(build.peer, file, synchronous)
}

async function sourceOf(workload, shape) {
  const rows = config.quick ? (workload.quickRows ?? workload.rows) : workload.rows
  const source = join(config.dir, `${shape}-${workload.seed ? workload.id : rows}.db`)
  if (workload.reactive) return source
  if (!workload.seed) seed(source, shape, rows)
  else if (!existsSync(source)) await workload.seed(source, { quick: config.quick })
  return source
}

/** Two builds of SQLite in one process must not share a file. */
function ownCopy(source, side) {
  const file = `${source}-${side}-${process.pid}.db`
  if (existsSync(source)) copyFileSync(source, file, constants.COPYFILE_FICLONE)
  return file
}

/** Warms the tasks up; how many operations each round has is the same for all of them. */
async function warmedUp(tasks) {
  const counts = []
  for (const task of tasks) {
    if (task.measure) await task.warmUp?.()
    else counts.push(await calibrate(task, config.sampleMs))
  }
  return Math.max(...counts)
}

function measuredOnce(task, ops) {
  return task.measure ? task.measure() : sample(task, ops)
}

function valuesOf(samples, measure) {
  return Object.fromEntries([...samples].map(([side, found]) => [side, found.map((one) => one[measure])]))
}

async function closed(session, file) {
  await session.close()
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true, recursive: true })
}
