// The reactions of a cluster while servers of its log are down. `npm run test:cluster` runs it, with RESQLITE_CLUSTER_LOG for the log
// and RESQLITE_NATIVE_PATH for the native module.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Cluster } from '@resqlite/cluster'
import { etcd } from '@resqlite/cluster/etcd'
import { nats } from '@resqlite/cluster/nats'
import { startServers } from './servers.mjs'

const kind = process.env.RESQLITE_CLUSTER_LOG ?? 'nats'
const NAMES = ['one', 'two', 'three']

describe(`with servers of ${kind} down`, () => {
  let folder
  let started
  let nodes

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'resqlite-reads-'))
    started = await startServers(kind)
    const log =
      kind === 'nats'
        ? nats({ servers: started.urls, stream: 'reads' })
        : etcd({ endpoints: started.urls, prefix: 'reads' })
    const open = (node) => Cluster.open(join(folder, `${node}.db`), { node, log, writeTimeout: 60_000 })
    nodes = await Promise.all(NAMES.map(open))
    await nodes[0].exec('CREATE TABLE t(a)')
    await Promise.all(nodes.map((node) => node.reach({ fresh: true })))
  })

  after(async () => {
    await Promise.all((nodes ?? []).map((node) => node.close({ timeout: 1_000 })))
    await started?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('reads go on everywhere while a minority is lost, and writes after the election', async () => {
    for (const [value, server] of started.servers.entries()) {
      await server.kill()
      await readUntil(nodes[value].execute('INSERT INTO t VALUES (?)', [value]))
      server.start()
      await Promise.all(nodes.map((node) => node.reach({ fresh: true })))
      for (const node of nodes) assert.equal((await node.select('SELECT a FROM t')).length, value + 1)
    }
  })

  it('reads go on everywhere while the majority is lost', async () => {
    const [one, two] = started.servers
    await Promise.all([one.kill(), two.kill()])
    for (const node of nodes) assert.equal((await node.select('SELECT a FROM t')).length, 3)
    one.start()
    two.start()
    await nodes[0].execute('INSERT INTO t VALUES (3)')
  })

  /** Reads on all nodes again and again until something has ended. */
  async function readUntil(ends) {
    let hasEnded = false
    const ended = ends.finally(() => {
      hasEnded = true
    })
    do await Promise.all(nodes.map((node) => node.select('SELECT count(*) FROM t')))
    while (!hasEnded)
    await ended
  }
})
