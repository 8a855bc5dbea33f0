import './native'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Cluster, type ClusterDatabase, type ClusterOptions } from '@resqlite/cluster'
import { etcd } from '@resqlite/cluster/etcd'
import { type MemoryLog, memory } from '@resqlite/cluster/memory'
import { nats } from '@resqlite/cluster/nats'

let logs = 0

/** A log that is empty: in memory, or of the kind and on the servers that the environment names. Only the first can be broken. */
function newLog(name: string): MemoryLog {
  const { RESQLITE_TEST_LOG: kind, RESQLITE_NATS = '', RESQLITE_ETCD = '' } = process.env
  if (kind === 'nats') return nats({ servers: RESQLITE_NATS.split(','), stream: name }) as MemoryLog
  if (kind === 'etcd') return etcd({ endpoints: RESQLITE_ETCD.split(','), prefix: name }) as MemoryLog
  return memory(name)
}

/** A log in memory, a folder for the files of nodes, and the nodes, which are closed after the test. */
export class World {
  readonly log = newLog(`t${process.pid}-${++logs}`)
  readonly folder = mkdtempSync(join(tmpdir(), 'resqlite-cluster-'))
  readonly #nodes: ClusterDatabase[] = []

  constructor(t: TestContext) {
    t.after(async () => {
      await Promise.all(this.#nodes.map((node) => node.close()))
      rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
    })
  }

  path(node: string): string {
    return join(this.folder, `${node}.db`)
  }

  async open(node: string, options: Partial<ClusterOptions> = {}): Promise<ClusterDatabase> {
    const opened = await Cluster.open(this.path(node), {
      node,
      log: this.log,
      writeTimeout: 30_000,
      logTimeout: 10_000,
      forwardTimeout: 20_000,
      ...options,
    })
    this.#nodes.push(opened)
    return opened
  }
}

export interface Three {
  world: World
  /** The node that writes. */
  writer: ClusterDatabase
  follower: ClusterDatabase
  other: ClusterDatabase
}

/** Three nodes that have the tables of the script, which the first has made. */
export async function three(
  t: TestContext,
  script: string,
  options: Partial<ClusterOptions> = {},
): Promise<Three> {
  const world = new World(t)
  const writer = await world.open('writer', options)
  await writer.exec(script)
  const follower = await world.open('follower', options)
  const other = await world.open('other', options)
  await all([writer, follower, other])
  return { world, writer, follower, other }
}

/** Waits until the nodes have everything. */
export async function all(nodes: readonly ClusterDatabase[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.reach({ fresh: true })))
}

/** What `assert.rejects` and `assert.throws` compare an error with. */
export function withCode(code: string, message = /./): { code: string; message: RegExp } {
  return { code, message }
}
