// Takes the measurements of an A/B: two passes, the second with the order of everything flipped.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { runChild } from '../child.mjs'
import { median } from '../judge/statistics.mjs'
import { orderOf } from '../measure.mjs'
import { progress } from '../progress.mjs'
import { series } from '../series.mjs'
import { copyBuild } from './copy.mjs'
import { abFolder } from './paths.mjs'

const child = join(import.meta.dirname, 'child.mjs')
const liveChild = join(import.meta.dirname, 'live-child.mjs')
const patience = 1_800_000 // ms
const options = { execArgv: ['--expose-gc'], timeout: patience }

/**
 * Measures `builds` (side → folder) with `jobs` (`{ id, shape }`) and `live` (workloads). Resolves with
 * `{ measured: [{ benchmark, …, measure, kind, better, passes }], failed: [{ benchmark, error }] }`, where a pass is a list of
 * blocks `{ side: [numbers] }`: for a job one per process, for a live workload one.
 */
export async function measureBuilds(builds, { jobs, live, ...config }) {
  const dir = join(abFolder, `run-${process.pid}`)
  try {
    const packages = copyBuilds(builds, dir)
    const taken = []
    for (const flipped of [false, true]) {
      const sides = Object.keys(builds)
      const pass = {
        sides: flipped ? sides.reverse() : sides,
        number: flipped ? 2 : 1,
        packages,
        dir,
        config,
      }
      if (jobs.length > 0) taken.push(...(await jobsOf(pass, jobs)))
      for (const workload of live) taken.push(...(await liveOf(pass, workload)))
    }
    return gathered(taken)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function copyBuilds(builds, dir) {
  mkdirSync(join(dir, 'data'), { recursive: true })
  const copies = Object.keys(builds).map((side) => [side, join(dir, side)])
  for (const [side, folder] of copies) copyBuild(builds[side], folder)
  return Object.fromEntries(copies)
}

/** All jobs in each of several processes, with both builds; who is loaded and begins first alternates. */
async function jobsOf({ sides, number, packages, dir, config }, jobs) {
  const taken = []
  for (let i = 0; i < config.processes; i++) {
    progress(`pass ${number} of 2, process ${i + 1} of ${config.processes}`)
    const plan = { ...config, jobs, packages, order: orderOf(sides, i), dir: join(dir, 'data') }
    const found = await runChild(child, [JSON.stringify(plan)], options)
    taken.push(...found.map((one) => ({ kind: 'time', better: 'lower', ...one, pass: number })))
  }
  return taken
}

/** A process for each build in each round. */
async function liveOf({ sides, number, packages, dir, config }, { id, version, title }) {
  const values = new Map()
  const about = { benchmark: id, workload: id, version, title, pass: number }
  try {
    for (let round = 0; round < config.liveRounds; round++) {
      for (const side of orderOf(sides, round)) {
        progress(`pass ${number} of 2, ${id}, round ${round + 1} of ${config.liveRounds}, ${side}`)
        for (const one of await liveFigures({ id, version, title }, packages[side], dir, config)) {
          if (!values.has(one.measure)) values.set(one.measure, { ...about, ...one, values: {} })
          const { values: bySide } = values.get(one.measure)
          bySide[side] = [...(bySide[side] ?? []), one.value]
        }
      }
    }
  } catch (error) {
    return [{ ...about, error: error.message }]
  }
  return [...values.values()]
}

const judgedKinds = ['time', 'rate', 'times']

async function liveFigures({ id, version, title }, folder, dir, { quick }) {
  const data = join(dir, 'live')
  mkdirSync(data, { recursive: true })
  const settings = JSON.stringify({ quick, rounds: quick ? 2 : 5 })
  const figures = await runChild(liveChild, [folder, id, data, settings], options)
  rmSync(data, { recursive: true })
  return series({ results: [], live: [{ id, version, title, figures }] })
    .filter(({ kind, better }) => judgedKinds.includes(kind) && better !== 'none')
    .map(({ measure, measureTitle, kind, better, values }) => ({
      measure,
      measureTitle,
      kind,
      better,
      value: median(values),
    }))
}

/** The blocks of one measure stand together, by pass. A benchmark that failed once has failed. */
function gathered(taken) {
  const failed = taken.filter(({ error }) => error)
  const hasFailed = new Set(failed.map(({ benchmark }) => benchmark))
  const measured = new Map()
  for (const { pass, values, ...about } of taken) {
    if (hasFailed.has(about.benchmark)) continue
    const key = `${about.benchmark}/${about.measure}`
    if (!measured.has(key)) measured.set(key, { ...about, passes: [[], []] })
    measured.get(key).passes[pass - 1].push(values)
  }
  return { measured: [...measured.values()], failed: failedOnce(failed) }
}

const failedOnce = (failed) => [
  ...new Map(failed.map(({ benchmark, error }) => [benchmark, { benchmark, error }])).values(),
]
