import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePorts } from '../../scripts/cluster/server.mjs'
import { startServers } from '../../scripts/cluster/servers.mjs'
import { CommandFailed } from '../../scripts/lib/process.mjs'
import { Acknowledgements } from './acknowledgements.js'
import { leaderOf } from './leader.js'
import { NodeProcess } from './node-process.js'
import { ServerProcess } from './server-process.js'

const NODES = ['node-a', 'node-b', 'node-c']
/** Between two looks at who leads the log, in milliseconds. */
const LOOK_EVERY = 500

/** Three servers of a log and three nodes, all on this machine, and what was written to them. */
export class ThreeMachines {
  servers = []
  nodes = []
  acknowledgements = new Acknowledgements()
  /** The outcome of each ballot: 'done', 'not done' or 'unknown'. */
  outcomes = new Map()
  #kind
  #kept
  #monitors

  /** `kept` ends all of it, in whatever way this goes on; `port`: of the page of the first node, 0 for any. */
  static async start({ kind, port, kept }) {
    const machines = new ThreeMachines()
    machines.#kind = kind
    machines.#kept = kept
    const ports = await portsOf(port)
    await machines.#startServers()
    await machines.#startNodes(ports)
    return machines
  }

  /** All that can be broken. */
  get parts() {
    return [...this.nodes, ...this.servers]
  }

  part(name) {
    return this.parts.find((part) => part.name === name)
  }

  async #startServers() {
    const started = await startServers(this.#kind, { keep: (child) => this.#kept.process(child) })
    this.#kept.deleteLater(started.folder)
    this.servers = started.servers.map(
      (server) => new ServerProcess(server, join(started.folder, `${server.name}.log`)),
    )
    this.urls = started.urls
    this.#monitors = started.monitors
    this.#watchLeader()
  }

  async #startNodes(ports) {
    const folder = this.#kept.folder('cluster')
    const urls = Object.fromEntries(NODES.map((name, i) => [name, `http://127.0.0.1:${ports[i]}`]))
    this.nodes = NODES.map((name, i) => {
      const { [name]: _, ...others } = urls
      const file = join(folder, `${name}.db`)
      const place = { name, file, folder, port: ports[i], others, kind: this.#kind, servers: this.urls }
      return new NodeProcess({ ...place, kept: this.#kept, tell: (...told) => this.#told(...told) })
    })
    // A server that has ended would be waited for in vain.
    await Promise.race([Promise.all(this.nodes.map((node) => node.start())), this.#failWithServers()])
    this.acknowledgements.skip()
    for (const node of this.nodes) node.tell('write')
  }

  async #failWithServers() {
    for (;;) {
      await pause(100)
      const ended = this.servers.find(({ state }) => state === 'ended')
      if (ended) throw new CommandFailed(`${ended.name} has ended: ${ended.said()}`)
      if (this.nodes.every(({ state }) => state === 'running')) return
    }
  }

  #told(ballot, outcome) {
    this.outcomes.set(ballot, outcome)
    if (outcome === 'done') this.acknowledgements.add()
  }

  async #watchLeader() {
    const up = () => this.servers.flatMap(({ state }, i) => (state === 'running' ? [i] : []))
    for (;;) {
      const asked = up()
      const names = asked.map((i) => this.servers[i].name)
      const leader = await leaderOf(
        this.#kind,
        names,
        asked.map((i) => this.#monitors[i]),
      )
      for (const server of this.servers)
        server.isLeader = server.name === leader && server.state === 'running'
      await pause(LOOK_EVERY, undefined, { ref: false })
    }
  }
}

/** Ports that are free now. */
async function portsOf(first) {
  if (first === 0) return await freePorts(NODES.length)
  const ports = NODES.map((_, i) => first + i)
  for (const port of ports) await mustBeFree(port)
  return ports
}

async function mustBeFree(port) {
  const holder = createServer().listen(port, '127.0.0.1')
  try {
    await once(holder, 'listening')
  } catch (error) {
    throw new CommandFailed(
      `port ${port} of 127.0.0.1 is needed for the page of a node, and cannot be had (${error.code}): choose others with --port`,
    )
  }
  holder.close()
  await once(holder, 'close')
}
