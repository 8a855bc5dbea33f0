// node scripts/cluster/nodes.mjs <nats|etcd> [--faults kill,freeze,partition,writer,disk] [--cycles 20] [--seconds 60]
//   [--seed n] [--write-timeout 10000] [--snapshot-every 0] [--torn] [--plant stale-read|lost-write]
//
// Breaks three machines, each with a server of a log and a node of a cluster, while clients of all nodes write and read all
// the time. Checks then that each acknowledged write is in the log and in the database, once; that what failed is not; that
// all nodes are equal; that texts have a history in which each operation happened between its call and its return; that no
// node ever showed what was older than before, nor accounts with another sum.
//
// The kinds of faults are kill, freeze, partition, writer (its machine is cut off for longer than a write waits), disk (full),
// power and blackout (what was not synced is lost, on one machine or on all; with --torn, each page by chance). The seed
// repeats the choices, though not the moment at which a fault comes. --plant makes a mistake, and fails if it is not found.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CommandFailed, runAsProgram } from '../lib/process.mjs'
import { binary } from './binaries.mjs'
import { gapsOf } from './gaps.mjs'
import { checkAccounts, checkHistories, compareMarks, compareNodes } from './nodes/checks.mjs'
import { Cluster } from './nodes/cluster.mjs'
import { FAULTS } from './nodes/faults.mjs'
import { isInside, runInside, whyNoNamespaces } from './nodes/inside.mjs'
import { buildNode } from './nodes/node.mjs'
import { PROGRAMS } from './servers.mjs'

const NEED_NAMESPACES = ['partition', 'writer', 'disk', 'power', 'blackout']

await runAsProgram(import.meta.url, async (args) => {
  const options = optionsOf(args)
  const why = isInside ? undefined : whyNoNamespaces()
  if (!isInside) {
    // These need the network outside.
    buildNode()
    for (const name of [PROGRAMS[options.kind], 'powerloss', 'histories']) binary(name)
    if (!why) {
      process.exitCode = await runInside(process.argv[1], args)
      return
    }
  }
  const skipped = skippedFaults(options, why)
  for (const [name, reason] of Object.entries(skipped)) console.log(`skipped: ${name}: ${reason}`)
  const kinds = options.kinds.filter((kind) => !skipped[kind])
  await breakMachines({ ...options, kinds, skipped, hasNetwork: isInside })
})

/** The faults that cannot be made here, with the reason. */
function skippedFaults({ kinds }, why) {
  const skipped = {}
  for (const kind of kinds) {
    if (why && NEED_NAMESPACES.includes(kind)) skipped[kind] = why
    else if (['power', 'blackout'].includes(kind) && !existsSync('/dev/fuse'))
      skipped[kind] = 'there is no /dev/fuse'
  }
  if (kinds.includes('disk') && (kinds.includes('power') || kinds.includes('blackout')))
    skipped.disk = 'a disk is either full or loses its power'
  return skipped
}

async function breakMachines(options) {
  const needsDisks = options.kinds.some((kind) => ['power', 'blackout'].includes(kind))
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-nodes-'))
  const cluster = new Cluster({ ...options, needsDisks }, folder)
  let isFine = false
  try {
    await cluster.start()
    const faults = await breakAgainAndAgain(cluster)
    const found = await check(cluster)
    const summary = { ...summaryOf(options, cluster, faults), ...found }
    console.log(JSON.stringify(summary, null, 2))
    isFine = options.plant ? isFound(summary, options.plant) : isAllWell(summary)
    if (!isFine) throw new CommandFailed(`${whatIsWrong(options)}: see ${folder}`)
  } finally {
    await cluster.stop()
    if (isFine) rmSync(folder, { recursive: true, force: true })
  }
}

async function breakAgainAndAgain(cluster) {
  const { kinds, cycles, seconds } = cluster.options
  const happened = []
  const end = performance.now() + seconds * 1_000
  for (let i = 0; i < cycles && performance.now() < end; i++) {
    try {
      // The kinds take turns, so that a short run has all of them.
      const faults = Object.entries(FAULTS[kinds[i % kinds.length]])
      happened.push(await cycle(cluster, cluster.choose(faults)))
    } catch (error) {
      if (!(error instanceof CommandFailed)) throw error
      console.log(`after ${happened.length} faults, ${error.message}`)
      cluster.stuck = error.message
      break
    }
  }
  return happened
}

async function cycle(cluster, [name, fault]) {
  const from = performance.now()
  const before = cluster.record.violations.length
  if (cluster.options.verbose) console.log(`${(from / 1000).toFixed(1)} s: ${name}`)
  const about = await fault(cluster)
  const healed = performance.now()
  await cluster.recovers()
  await pause(300 + cluster.random() * 1_500)
  const gap = cluster.record.longestGap(from, performance.now())
  const recovery = cluster.record.events.at(-1).at - healed
  return {
    name: about?.name ? `${name}, ${about.name}` : name,
    gap,
    recovery,
    seen: about?.seen,
    violations: cluster.record.violations.length - before,
  }
}

async function check(cluster) {
  const unanswered = await cluster.workload.stop()
  const { nodes, record } = cluster
  const found = { unanswered }
  try {
    found.nodes = await compareNodes(nodes)
    found.writes = await compareMarks(record.marks, nodes[0], await cluster.entries())
    found.accountsWrong = await checkAccounts(nodes)
    found.histories = await checkHistories(nodes, record.operations)
    await cluster.countAudits()
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    found.unchecked = error.message
  }
  found.live = { emissions: cluster.emissions.count, ...cluster.audits }
  found.closed = (await Promise.all(nodes.map((node) => node.close()))).every(Boolean)
  return found
}

function summaryOf({ kind, seed, torn, writeTimeout, snapshotEvery, plant, skipped }, cluster, happened) {
  const { record } = cluster
  const byName = Map.groupBy
    ? Map.groupBy(happened, ({ name }) => name)
    : happened.reduce((map, each) => map.set(each.name, [...(map.get(each.name) ?? []), each]), new Map())
  return {
    log: kind,
    seed,
    settings: { torn, writeTimeout, snapshotEvery, plant },
    skipped,
    stuck: cluster.stuck,
    faults: happened.length,
    gaps: Object.fromEntries([...byName].map(([name, those]) => [name, gapsOf(those.map(({ gap }) => gap))])),
    seen: happened.flatMap(({ seen }) => seen ?? []),
    acknowledged: record.acknowledged,
    codes: record.codes,
    reopened: cluster.reopened,
    failedOpenings: cluster.nodes.map(({ failedOpenings }) => failedOpenings),
    violations: record.violations.length,
    firstViolations: record.violations.slice(0, 5),
  }
}

function isAllWell(summary) {
  const { writes, nodes, histories, live } = summary
  if (summary.stuck || summary.unchecked || !summary.closed) return false
  const wrong = [
    summary.violations,
    summary.unanswered,
    summary.accountsWrong,
    nodes.unequal.length,
    nodes.broken.length,
    histories.impossible.length,
    live.missed,
    ...['notDense', 'lost', 'lostInLog', 'shownBeforeItsEntry', 'twice', 'failedAndThere', 'otherOrder'].map(
      (name) => Number(writes[name]) || 0,
    ),
  ]
  return wrong.every((count) => count === 0)
}

/** The mistake is seen by those checks that are made for it. */
function isFound({ writes, histories }, plant) {
  const isImpossible = histories?.impossible.length > 0
  return plant === 'lost-write' ? isImpossible && writes.lost > 0 : isImpossible
}

function whatIsWrong({ plant }) {
  return plant ? `the mistake ${plant} was not found` : 'a promise was broken, or not kept in time'
}

function optionsOf(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      faults: { type: 'string', default: 'kill,freeze,partition,writer,disk' },
      cycles: { type: 'string', default: '20' },
      seconds: { type: 'string', default: '100000' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      'write-timeout': { type: 'string', default: '10000' },
      'snapshot-every': { type: 'string', default: '0' },
      torn: { type: 'boolean', default: false },
      plant: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  })
  const [kind] = positionals
  const kinds = values.faults.split(',')
  const unknown = kinds.find((each) => !FAULTS[each])
  if (unknown) throw new CommandFailed(`no faults ${unknown}; there are ${Object.keys(FAULTS).join(', ')}`)
  if (!PROGRAMS[kind]) throw new CommandFailed(`the logs are ${Object.keys(PROGRAMS).join(', ')}`)
  return {
    ...values,
    kind,
    kinds,
    cycles: Number(values.cycles),
    seconds: Number(values.seconds),
    seed: Number(values.seed),
    writeTimeout: Number(values['write-timeout']),
    snapshotEvery: Number(values['snapshot-every']),
  }
}
