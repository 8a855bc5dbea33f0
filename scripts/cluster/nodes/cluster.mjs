// Three machines, the clients of their nodes, and what happened to all of them.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { CommandFailed } from '../../lib/process.mjs'
import { generator } from '../../lib/random.mjs'
import { startServers } from '../servers.mjs'
import { askPatiently } from './checks.mjs'
import { Emissions } from './emissions.mjs'
import { Machine } from './machine.mjs'
import { Network } from './network.mjs'
import { copyProgram, Node } from './node.mjs'
import { Record } from './record.mjs'
import { SCHEMA, Workload } from './workload.mjs'

/** An election takes 10 seconds at most; the machine may be busy. */
const PATIENCE = 60_000

const LARGE_WRITES = [
  ...Array.from({ length: 10 }, () => 'INSERT INTO large(bytes) VALUES (hex(randomblob(100000)))'),
  'DELETE FROM large',
]

export class Cluster {
  machines = []
  record = new Record()
  emissions = new Emissions(this.record)
  /** The findings of audits of live queries, of the runs of nodes that could still be asked. */
  audits = { audits: 0, missed: 0 }
  /** Number of times that a node was opened again because it had fallen behind the log. */
  reopened = 0

  /** `needsDisks`: their power can fail. `hasNetwork`: their network can be cut. */
  constructor(options, folder) {
    this.options = options
    this.folder = folder
    this.writeTimeout = options.writeTimeout
    this.random = generator(options.seed)
    this.name = `nodes-${options.seed}`
    this.program = copyProgram(folder)
  }

  async start() {
    const { kind, hasNetwork, needsDisks } = this.options
    this.network = hasNetwork ? new Network() : undefined
    for (let i = 0; i < 3; i++) await this.#addMachine(i, hasNetwork, needsDisks)
    this.servers = await startServers(kind, {
      disks: needsDisks ? this.machines.map(({ serverData }) => serverData) : undefined,
      places: hasNetwork ? this.machines.map(({ places }) => places.server) : undefined,
    })
    for (const machine of this.machines) this.#addNode(machine)
    for (const { node } of this.machines) node.start()
    const nodes = this.nodes
    await Promise.all(nodes.map((node) => node.opened()))
    await askPatiently(nodes[0], { do: 'script', sql: SCHEMA })
    await Promise.all(nodes.map((node) => this.#watch(node)))
    this.workload = new Workload(nodes, this.record, this.options.seed)
    await this.recovers()
  }

  async #addMachine(index, hasNetwork, needsDisks) {
    const machine = new Machine(index, this.folder)
    this.machines.push(machine)
    if (needsDisks) await machine.addDisk(this.tornSeed())
    else if (hasNetwork) machine.addSmallDisk()
    if (hasNetwork) machine.addPlaces(this.network)
  }

  #addNode(machine) {
    const { kind, writeTimeout, snapshotEvery, plant } = this.options
    const settings = [
      `write_timeout=${writeTimeout}`,
      ...(snapshotEvery ? [`snapshot_every=${snapshotEvery}`] : []),
      ...(plant ? [`plant=${plant}`] : []),
    ]
    machine.server = this.servers.servers[machine.index]
    machine.node = new Node({
      program: this.program,
      name: `n${machine.index + 1}`,
      index: machine.index,
      enter: machine.places?.node.enter ?? [],
      kind,
      cluster: this.name,
      database: join(machine.database, 'app.db'),
      settings,
      env: this.servers.env,
      errors: join(machine.folder, 'node.log'),
      onEmission: (node, emission) => this.emissions.take(node, emission),
      onFellBehind: (node) => this.#reopen(node),
    })
  }

  get nodes() {
    return this.machines.map(({ node }) => node)
  }

  places() {
    return this.machines.flatMap(({ places }) => [places.server, places.node])
  }

  choose(of) {
    return of[Math.floor(this.random() * of.length)]
  }

  victim() {
    return this.choose(this.machines)
  }

  /** The machine whose server leads the log; any, if nobody says. */
  async leader() {
    const victim = this.victim()
    const answers = await Promise.all(
      this.servers.monitors.map((url) => leaderSaidBy(this.options.kind, url, this.name)),
    )
    const leader = answers.findIndex((isLeader, i) => isLeader(this.servers.servers[i].name))
    return this.machines[leader] ?? victim
  }

  /** The machine of the node that writes; any, if nobody says. */
  async writer() {
    const victim = this.victim()
    for (const { node } of this.machines) {
      const { done } = await node.ask({ do: 'status' })
      if (done?.role === 'Writer') return this.machines[node.index]
    }
    return victim
  }

  tornSeed() {
    return this.options.torn ? Math.floor(this.random() * 2 ** 31) : undefined
  }

  restartNode(node) {
    this.emissions.forget(node)
    node.start()
    this.#watch(node)
  }

  async #reopen(node) {
    this.reopened += 1
    await node.kill()
    this.restartNode(node)
  }

  /** Where the tables are not there yet, they come with the log. */
  async #watch(node) {
    for (;;) {
      await node.opened()
      const { done, code } = await node.ask({ do: 'watch' })
      if (done || code === 'DIED') return
      await pause(200)
    }
  }

  /** All nodes but this one go on, while it or its server is away; for a while. */
  async goesOn(away) {
    // No message is on its way any more.
    await pause(100)
    await this.#acknowledge(this.nodes.filter((node) => node !== away))
    await pause(this.random() * 2_000)
  }

  /** Makes all databases and their logs grow, and lets go of it again, by writes of all nodes. */
  async writeMuch() {
    const writes = this.nodes.flatMap((node) =>
      LARGE_WRITES.map(async (sql) => {
        const called = performance.now()
        const answer = await node.ask({ do: 'execute', sql, params: [] })
        if (answer.code !== 'CLOSED') this.record.ended({ node, is: 'write', called, answer })
      }),
    )
    await Promise.race([Promise.all(writes), pause(this.writeTimeout)])
  }

  /** Each node acknowledges something. */
  async recovers() {
    await this.#acknowledge(this.nodes)
  }

  async #acknowledge(nodes) {
    const progressed = await Promise.all(nodes.map(({ index }) => this.record.progress(PATIENCE, index)))
    const stuck = nodes.filter((_, i) => !progressed[i])
    if (stuck.length === 0) return
    const states = await Promise.all(stuck.map(async (node) => `${node.name}: ${await stateOf(node)}`))
    throw new CommandFailed(`acknowledged nothing for a minute: ${states.join('; ')}`)
  }

  /** The entries of the log, by position. */
  async entries() {
    const { kind } = this.options
    const enter = this.machines[0].places?.node.enter ?? []
    const [command, ...args] = [...enter, this.program, kind, this.name, 'entries']
    const options = { env: { ...process.env, ...this.servers.env }, encoding: 'utf8', maxBuffer: 2 ** 30 }
    const done = spawnSync(command, args, { ...options, timeout: 120_000 })
    if (done.status !== 0) throw new CommandFailed(`the log cannot be read: ${done.stderr}`)
    return done.stdout
  }

  async countAudits() {
    for (const node of this.nodes) {
      const { done } = await node.ask({ do: 'status' })
      this.audits.audits += done?.live?.audits ?? 0
      this.audits.missed += done?.live?.missed ?? 0
    }
  }

  async stop() {
    await Promise.all(this.nodes.map((node) => node?.kill()))
    await this.servers?.stop()
    for (const machine of this.machines) await machine.removeDisks()
    this.network?.close()
  }
}

async function stateOf(node) {
  const { unanswered } = node
  const answered = await Promise.race([node.ask({ do: 'status' }), pause(2_000, { message: 'no answer' })])
  return JSON.stringify({ state: answered.done ?? answered.message, unanswered })
}

/** True if the server of this name says that it leads. */
async function leaderSaidBy(kind, url, stream) {
  try {
    if (kind === 'etcd') {
      const asked = await fetch(`${url}/v3/maintenance/status`, {
        method: 'POST',
        body: '{}',
        signal: AbortSignal.timeout(1_000),
      })
      const { leader, header } = await asked.json()
      return () => leader === header.member_id
    }
    const asked = await fetch(`${url}/jsz?accounts=true&streams=true`, { signal: AbortSignal.timeout(1_000) })
    const { account_details: accounts = [] } = await asked.json()
    const streams = accounts.flatMap((account) => account.stream_detail ?? [])
    const leader = streams.find((each) => each.name === stream)?.cluster?.leader
    return (name) => name === leader
  } catch {
    return () => false
  }
}
