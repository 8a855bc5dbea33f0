// node scripts/cluster/ratios.mjs [nats|etcd] [--rounds 7] [--rows 1000000] [--join 64] [--commits 10000] [--quick]: what a
// cluster of three nodes costs beside its log and beside a database alone, with three servers on this machine. Prints the ratios, and keeps all
// figures in experiments/results.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../../bench/machine.mjs'
import { root } from '../lib/paths.mjs'
import { CommandFailed, capture, cargo, runAsProgram } from '../lib/process.mjs'
import { PROGRAMS, startServers } from './servers.mjs'

const program = join(root, 'target', 'release', 'examples', 'ratios')

/** The least and the wanted value of each ratio. `isCost`: less is better. */
const RATIOS = [
  {
    key: 'awaitedWriteToAppend',
    name: 'awaited write ÷ append of its size',
    least: 1.5,
    aim: 1.1,
    isCost: true,
  },
  { key: 'groupedWritesToAppends', name: 'writes/s, 64 in flight ÷ appends/s', least: 20, aim: 50 },
  { key: 'readsToAlone', name: 'point queries on a node ÷ alone', least: 0.95, aim: 1 },
  {
    key: 'emissionElsewhereToAcknowledgement',
    name: 'value on another node ÷ acknowledgement',
    least: 1.3,
    aim: 1.05,
    isCost: true,
  },
]

await runAsProgram(import.meta.url, async (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '7' },
      rows: { type: 'string', default: '1000000' },
      join: { type: 'string', default: '64' },
      commits: { type: 'string', default: '10000' },
      quick: { type: 'boolean', default: false },
    },
  })
  const quick = { rounds: '2', rows: '64000', join: '16', commits: '500' }
  const { rounds, rows, join: mebibytes, commits } = values.quick ? quick : values
  cargo([
    'build',
    '--locked',
    '--release',
    '-p',
    'resqlite-cluster',
    '--features',
    'nats,etcd',
    '--example',
    'ratios',
  ])
  const told = { machine: await machine(), commit: capture('git', ['rev-parse', 'HEAD']).trim() }
  for (const kind of positionals.length > 0 ? positionals : Object.keys(PROGRAMS)) {
    const started = await startServers(kind)
    try {
      const ask = (...question) => askProgram([kind, ...question], started.env)
      told[kind] = {
        costs: ask('costs', rounds, commits),
        catchUp: ask('catch-up', rows),
        join: ask('join', mebibytes),
      }
    } finally {
      await started.stop()
    }
    print(kind, told[kind])
  }
  const name = `${told.machine.date.slice(0, 10)}-cluster-ratios.json`
  const file = join(root, 'experiments', 'results', name)
  writeFileSync(file, `${JSON.stringify(told, null, 2)}\n`)
  console.log(`all figures: experiments/results/${name}`)
})

async function machine() {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-machine-'))
  try {
    return await describeMachine(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function askProgram(args, env) {
  const stdio = ['ignore', 'pipe', 'inherit']
  const done = spawnSync(program, args, { env: { ...process.env, ...env }, stdio, encoding: 'utf8' })
  if (done.status !== 0) throw new CommandFailed(`ratios ${args.join(' ')} failed`)
  return JSON.parse(done.stdout)
}

function print(kind, { costs, catchUp, join }) {
  console.log(
    `\n${kind}, entries of ${costs.entryBytes} bytes; medians of ${costs.rounds.length} rounds (least … most)`,
  )
  for (const { key, name, least, aim, isCost } of RATIOS) {
    const all = costs.rounds.map((round) => round[key]).sort((a, b) => a - b)
    const median = all[Math.floor(all.length / 2)]
    const reaches = (target) => (isCost ? median <= target : median >= target)
    const verdict = reaches(aim) ? 'reaches the aim' : reaches(least) ? 'enough' : 'MISSES'
    const spread = `${figure(all[0])} … ${figure(all.at(-1))}`
    console.log(
      `  ${name.padEnd(40)} ${figure(median).padStart(7)} (${spread}), asked ${least}, aim ${aim}: ${verdict}`,
    )
  }
  const { writes, entries, queries, reruns, wasted } = costs.wasted
  console.log(
    `  ${writes} writes in ${entries} entries × ${queries} keyed queries: ${reruns} re-runs, ${wasted} wasted`,
  )
  console.log(
    `  catch-up of ${catchUp.rows} rows: ${Math.round(catchUp.rowsPerSecond)} rows/s, ${figure(catchUp.toWritten)} × as fast as they ` +
      `were written, ${figure(catchUp.toAlone)} × a database alone`,
  )
  console.log(
    `  ${Math.round(join.mib)} MiB: ${figure(join.largeEntriesMibPerSecond)} MiB/s as entries of 16 MiB, ` +
      `${figure(join.snapshotMibPerSecond)} MiB/s as a snapshot, joined at ${figure(join.joinMibPerSecond)} MiB/s`,
  )
}

function figure(number) {
  return number >= 100 ? `${Math.round(number)}` : number.toPrecision(3)
}
