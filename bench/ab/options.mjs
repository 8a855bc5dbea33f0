// The command line → what to compare and how.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { liveWorkloads } from '../live/index.mjs'
import { reactiveWorkloads } from '../reactive/index.mjs'
import { workloads } from '../workloads/index.mjs'
import { root } from './paths.mjs'

const signals = join(root, 'experiments', 'signals.json')

/** What is measured unless something else is chosen. */
const standard = ['select-1k', 'select-10k', 'point-64', 'insert-64', 'json-1k', 'batch-10k']
const standardReactive = ['reactive-a11b-owners']
const standardLive = ['live-list']
const standardJobs = [
  ...standard.map((id) => ({ id, shape: 'items' })),
  ...standardReactive.map((id) => ({ id, shape: 'live' })),
]

export const usage = `node ab/run.mjs <baseline> <candidate> [options]
  a side is a git ref, . (this working tree as built) or a folder with a built package
  --only id,…            workloads instead of the standard set (${[...standard, ...standardReactive, ...standardLive].join(', ')});
                         a group, or a beginning of ids such as \`select\`, is chosen by its name, \`all\` is everything that is not slow
  --direction id         the guardrails of a direction of experiments/signals.json
  --rounds n             rounds in each process (40); processes for each side, for live workloads (8)
  --processes n          processes in each pass (4)
  --quick                12 rounds, 2 processes, short samples: indications only
  --control              also measures the baseline against a copy of itself
  --json file            writes every number
  --expect improvement|no_regression   exit code 65 unless it is so
  --no-fail-on-reproduced              exit code 0 in spite of reproduced regressions`

export function optionsFrom(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    allowNegative: true,
    options: {
      only: { type: 'string', multiple: true },
      direction: { type: 'string' },
      rounds: { type: 'string' },
      processes: { type: 'string' },
      quick: { type: 'boolean', default: false },
      control: { type: 'boolean', default: false },
      json: { type: 'string' },
      expect: { type: 'string' },
      'fail-on-reproduced': { type: 'boolean', default: true },
    },
  })
  if (positionals.length !== 2) throw new Error(usage)
  const { quick, control, json, expect } = values
  if (expect && !['improvement', 'no_regression'].includes(expect))
    throw new Error(`--expect ${expect}: improvement or no_regression`)
  return {
    sides: { baseline: positionals[0], candidate: positionals[1] },
    control,
    json,
    expect,
    failOnReproduced: values['fail-on-reproduced'],
    ...planOf({ quick, rounds: count(values, 'rounds'), processes: count(values, 'processes') }),
    ...chosen(names(values)),
  }
}

function names({ only, direction }) {
  if (direction === undefined) return only?.flatMap((list) => list.split(','))
  if (only !== undefined) throw new Error('--only and --direction: one of them')
  return guardrailsOf(direction)
}

/** The workloads that a change in this direction must not make slower. */
function guardrailsOf(id) {
  const { directions } = JSON.parse(readFileSync(signals, 'utf8'))
  const direction = directions.find((direction) => direction.id === id)
  if (direction !== undefined) return direction.guardrails
  throw new Error(`--direction ${id}: one of ${directions.map(({ id }) => id).join(', ')}`)
}

/**
 * The numbers of a measurement. Many short samples rather than few long ones: a change of the machine's pace then falls into few
 * pairs, and the median passes over them.
 */
export function planOf({ quick = false, rounds, processes }) {
  return {
    quick,
    rounds: rounds ?? (quick ? 12 : 40),
    liveRounds: rounds ?? (quick ? 5 : 8),
    processes: processes ?? (quick ? 2 : 4),
    sampleMs: quick ? 8 : 12,
  }
}

/** `{ jobs, live }`. Throws for what there is not, and for what cannot be done with two builds in one process. */
export function chosen(names) {
  if (!names) return { jobs: standardJobs, live: liveWorkloads.filter(({ id }) => standardLive.includes(id)) }
  const every = [...workloads, ...reactiveWorkloads, ...liveWorkloads]
  const unknown = names.filter((name) => !every.some((workload) => isMeant(workload, name)))
  if (unknown.length > 0) throw new Error(`no such workload: ${unknown.join(', ')}`)
  const meant = every.filter(
    (workload) =>
      names.some((name) => isMeant(workload, name)) && !(workload.slow && !names.includes(workload.id)),
  )
  const apart = meant.filter(({ ownProcess }) => ownProcess).map(({ id }) => id)
  if (apart.some((id) => names.includes(id)))
    throw new Error(`${apart.join(', ')}: has a process for each peer and cannot be compared here`)
  return {
    jobs: meant
      .filter(({ shapes, ownProcess }) => shapes && !ownProcess)
      .flatMap(({ id, shapes }) => shapes.map((shape) => ({ id, shape }))),
    live: meant.filter(({ shapes }) => !shapes),
  }
}

const isMeant = ({ id, group }, name) =>
  name === 'all' || id === name || group === name || id.startsWith(`${name}-`)

function count(values, name) {
  if (values[name] === undefined) return undefined
  const number = Number(values[name])
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name}: a whole number above 0`)
  return number
}
