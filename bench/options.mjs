// The command line → what to do.
import { parseArgs } from 'node:util'
import { builderWorkloads } from './builders/index.mjs'
import { liveWorkloads } from './live/index.mjs'
import { peerNames } from './peers/index.mjs'
import { reactiveWorkloads } from './reactive/index.mjs'
import { reactivePeerNames } from './reactive/peers/index.mjs'
import { options } from './usage.mjs'
import { workloads as sqlWorkloads } from './workloads/index.mjs'

const timedWorkloads = [...sqlWorkloads, ...reactiveWorkloads]
/** Each in a process of its own. */
const apart = [...liveWorkloads, ...builderWorkloads]
const every = [...timedWorkloads, ...apart]
/**
 * How long the workloads of a quick run may take together (ms), about: on a slow machine they have fewer rounds. Those of live
 * queries and of memory have a part that does not become shorter, so this is less than the ten minutes of a run.
 */
const quickTime = 450_000

const everyPeer = [...new Set([...peerNames, ...reactivePeerNames])]

/** Throws an error that says what is wrong with the arguments. */
export function optionsFrom(argv) {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options,
  })
  if (values.list) return { mode: 'list', workloads: every }
  if (values.compare) return comparing(values, positionals)
  if (values.report) return { mode: 'report', files: positionals, out: values.out }
  if (positionals.length > 0) throw new Error(`what is ${positionals.join(' ')}? --only chooses workloads`)
  return running(values)
}

function comparing(values, files) {
  if (files.length !== 2) throw new Error('--compare takes two stored runs: --compare before.json after.json')
  return { mode: 'compare', files, peer: values.peer, failOnRegression: values['fail-on-regression'] }
}

function running(values) {
  const { quick, label, json, into } = values
  const only = values.only?.flatMap((list) => list.split(','))
  const chosen = (workloads) =>
    workloads.filter((workload) => isChosen(workload, only, values['include-slow']))
  const timed = chosen(timedWorkloads)
  const peers = values.peers?.split(',') ?? everyPeer
  const unknown = peers.filter((name) => !everyPeer.includes(name))
  if (unknown.length > 0) throw new Error(`no such peer: ${unknown}; there are ${everyPeer.join(', ')}`)
  const live = peers.includes('resqlite') ? chosen(apart) : []
  if (timed.length + live.length === 0) throw new Error('no such workload; --list shows them')
  if (into !== undefined && only === undefined)
    throw new Error('--into repeats workloads: --only chooses them')
  return {
    mode: 'run',
    quick,
    label: label ?? (quick ? 'quick' : 'full'),
    keep: label !== undefined,
    json,
    into,
    partial: only !== undefined || values.peers !== undefined,
    peers,
    jobs: timed.flatMap((workload) => workload.shapes.map((shape) => ({ workload, shape }))),
    live,
    rounds: count(values.rounds) ?? (quick ? 5 : 15),
    sampleMs: quick ? 30 : 120,
    time: quick ? quickTime : Number.POSITIVE_INFINITY,
  }
}

/** By id, by the beginning of an id (`select` for `select-1k`), by group, or by default unless it is slow. */
function isChosen({ id, group, slow }, only, includeSlow) {
  if (!only) return includeSlow || !slow
  return only.some((name) => id === name || group === name || id.startsWith(`${name}-`))
}

function count(text) {
  if (text === undefined) return undefined
  const rounds = Number(text)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds ${text}: a whole number above 0`)
  return rounds
}
