// One node of the cluster, as a process of its own. Whoever started it sends it words, and is told how it is doing.

import { once } from 'node:events'
import { Cluster } from '@resqlite/cluster'
import { etcd } from '@resqlite/cluster/etcd'
import { nats } from '@resqlite/cluster/nats'
import { prepare } from './ballots.js'
import { createPages } from './pages.js'
import { Writer } from './writer.js'

/** Between two reports, in milliseconds. */
const REPORT_EVERY = 100

const { name, run, file, port, kind, servers, others } = JSON.parse(process.argv[2])

const log = kind === 'nats' ? nats({ servers, stream: 'demo' }) : etcd({ endpoints: servers, prefix: 'demo' })
const db = await Cluster.open(file, { node: name, log, snapshotEvery: 10_000 })
await prepare(db)

const pages = createPages(db, { name, others }).listen(port, '127.0.0.1')
await once(pages, 'listening')

const told = []
let writer
const report = () => process.send({ status: db.status, told: told.splice(0) })
const reports = setInterval(report, REPORT_EVERY)

const words = {
  async write() {
    writer = new Writer(db, `${name}/${run}`, (ballot, outcome) => told.push([ballot, outcome]))
  },
  async stop() {
    await writer?.stop()
    report()
    process.send({ stopped: true })
  },
  /** Applies everything that any node has acknowledged. */
  async settle() {
    process.send({ settled: await db.reach({ fresh: true }) })
  },
  async close() {
    clearInterval(reports)
    pages.close()
    pages.closeAllConnections()
    await db.close()
    process.disconnect()
  },
}

// Whoever started it is gone: its end is none of the log's business.
process.on('disconnect', () => process.exit())
process.on('message', async (word) => {
  try {
    await words[word]()
  } catch (error) {
    process.send({ failed: `${error.code ?? error.name}: ${error.message}` })
  }
})
process.send({ opened: true })
