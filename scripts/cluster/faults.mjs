// node scripts/cluster/faults.mjs <nats|etcd> <kill|freeze|power|blackout> [--cycles 20] [--seed n] [--torn] [--sync default]
//
// Breaks the servers of a log again and again while three clients append, and checks that each acknowledged entry stands
// where it was acknowledged, once, and that a follower is told of all entries in their order. One server at a time is killed (kill), stopped for 6 seconds (freeze) or loses its power
// with what it had not synced (power); or all three lose it at once (blackout). With --torn, each page that was not synced
// is lost by chance. --sync default leaves to NATS when it syncs: that must lose entries.
//
// The seed repeats the choices, though not the moment at which a fault comes.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CommandFailed, runAsProgram } from '../lib/process.mjs'
import { generator } from '../lib/random.mjs'
import { askClient, buildClient, Clients, Follower } from './clients.mjs'
import { Disk } from './disk.mjs'
import { gapsOf } from './gaps.mjs'
import { startServers } from './servers.mjs'

const FREEZE = 6_000
/** An election takes 10 seconds at most; the machine may be busy. */
const PATIENCE = 60_000

const faults = {
  async kill(run) {
    const { server } = run.victim()
    await server.kill()
    await run.goesOn()
    server.start()
  },
  async freeze(run) {
    const { server } = run.victim()
    server.freeze()
    await pause(FREEZE)
    server.thaw()
  },
  async power(run) {
    await run.failPower([run.victim()])
  },
  async blackout(run) {
    await run.failPower(run.machines)
  },
}

class Run {
  constructor(options) {
    this.options = options
    this.random = generator(options.seed)
  }

  async start(disks) {
    this.started = await startServers(this.options.kind, {
      sync: this.options.sync,
      disks: disks?.map(({ path }) => path),
    })
    this.machines = this.started.servers.map((server, i) => ({ server, disk: disks?.[i] }))
    this.name = `faults-${this.options.seed}`
    // Makes the log, once.
    askClient([this.options.kind, this.name, 'list'], this.started.env)
    this.clients = new Clients(this.started, this.name, 3)
    this.follower = new Follower(this.started, this.name, this.clients.times)
    await this.goesOn()
  }

  victim() {
    return this.machines[Math.floor(this.random() * this.machines.length)]
  }

  async failPower(machines) {
    for (const { server } of machines) await server.kill()
    for (const { server, disk } of machines) {
      await disk.failPower()
      await disk.mount(this.tornSeed())
      server.start()
    }
  }

  tornSeed() {
    return this.options.torn ? Math.floor(this.random() * 2 ** 31) : undefined
  }

  async goesOn() {
    if (!(await this.clients.progress(PATIENCE)))
      throw new CommandFailed('nothing was acknowledged for a minute')
  }

  async cycle() {
    this.clients.takeLongestGap()
    await faults[this.options.fault](this)
    await this.goesOn()
    await pause(500 + this.random() * 2_000)
    await this.goesOn()
    return this.clients.takeLongestGap()
  }

  /** After the clients have ended: the follower gets some time to be told of the rest. */
  async check() {
    const listed = askClient([this.options.kind, this.name, 'list'], this.started.env)
    const entries = new Map(listed.split('\n').map((line) => line.split(' ')))
    entries.delete('')
    const unfollowed = await this.unfollowed([...entries])
    const acknowledged = [...this.clients.acknowledged]
    const times = new Map()
    for (const bytes of entries.values()) times.set(bytes, (times.get(bytes) ?? 0) + 1)
    return {
      acknowledged: acknowledged.length,
      listed: entries.size,
      lost: acknowledged.filter(([, bytes]) => !times.has(bytes)).length,
      misplaced: acknowledged.filter(
        ([position, bytes]) => times.has(bytes) && entries.get(position) !== bytes,
      ).length,
      unfollowed,
      repeated: [...times.values()].filter((count) => count > 1).length + this.clients.twice.length,
    }
  }

  /** Number of entries that the follower did not get at their place. */
  async unfollowed(entries) {
    const { follower } = this
    for (let i = 0; i < 100 && follower.entries.length < entries.length; i++) await pause(100)
    const isOther = ([position, bytes], [otherPosition, other]) =>
      position !== otherPosition || bytes !== other
    return entries.filter((entry, i) => isOther(entry, follower.entries[i] ?? [])).length
  }
}

await runAsProgram(import.meta.url, async (args) => {
  const options = optionsOf(args)
  buildClient()
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-faults-'))
  const needsDisks = ['power', 'blackout'].includes(options.fault)
  const disks = needsDisks ? [1, 2, 3].map((n) => new Disk(join(folder, `machine-${n}`))) : undefined
  const run = new Run(options)
  try {
    for (const disk of disks ?? []) await disk.mount(run.tornSeed())
    await run.start(disks)
    const gaps = await breakAgainAndAgain(run)
    report(options, await run.check(), gaps)
    console.log(`the follower was late by ${(run.follower.longestDelay / 1000).toFixed(2)} s at most`)
  } finally {
    await run.clients?.stop()
    await run.follower?.stop()
    await run.started?.stop()
    for (const disk of disks ?? []) await disk.unmount()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** Acknowledged writes are checked even if the log does not go on. */
async function breakAgainAndAgain(run) {
  const gaps = []
  try {
    for (let i = 0; i < run.options.cycles; i++) gaps.push(await run.cycle())
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    console.log(`after ${gaps.length} faults, ${error.message}`)
    process.exitCode = 1
  }
  await run.clients.stop()
  return gaps
}

function report({ kind, fault, seed, torn, sync }, found, gaps) {
  const { median, p90, longest } = gapsOf(gaps)
  const how = [kind, fault, ...(torn ? ['torn'] : []), `sync ${sync}`, `seed ${seed}`].join(', ')
  console.log(`${how}: ${gaps.length} faults, ${JSON.stringify(found)}`)
  console.log(
    `longest time without an acknowledgement: median ${median} s, p90 ${p90} s, longest ${longest} s`,
  )
  console.log(`each: ${gaps.map((gap) => (gap / 1000).toFixed(1)).join(' ')}`)
  if (found.lost + found.misplaced + found.repeated + found.unfollowed > 0)
    throw new CommandFailed('the log broke its promise')
}

function optionsOf(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      cycles: { type: 'string', default: '20' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      sync: { type: 'string', default: 'always' },
      torn: { type: 'boolean', default: false },
    },
  })
  const [kind, fault] = positionals
  if (!faults[fault]) throw new CommandFailed(`the faults are ${Object.keys(faults).join(', ')}`)
  return { ...values, kind, fault, cycles: Number(values.cycles), seed: Number(values.seed) }
}
