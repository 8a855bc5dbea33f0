import { once } from 'node:events'
import { createServer } from 'node:http'
import { sendSSE } from '../peers/resqlite.mjs'
import { quiet } from './counters.mjs'
import { bytes, count, time, times } from './figure.mjs'
import { makeRows } from './latency.mjs'
import { memory } from './memory.mjs'
import { offer, offered } from './offer.mjs'
import { SocketPeer } from './socket-peer.mjs'
import { each, inTurns, ratio } from './turns.mjs'

const clients = 1000
const rows = 100
const sql = 'SELECT * FROM items ORDER BY id'

/** Server-sent events over connections to another process, while commits are offered at a fixed rate. */
export const sockets = {
  id: 'live-sockets',
  version: 'v1',
  title: `${offered} commits per second → events for ${clients.toLocaleString('en')} clients in another process`,
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await makeRows(db, rows)
    await db.exec("ALTER TABLE items ADD COLUMN mark TEXT NOT NULL DEFAULT ''")
    const peer = await SocketPeer.start()
    const phases = { shared, alone }
    const commits = offered * (quick ? 1 : 5)
    const s = await inTurns(phases, Math.min(rounds, 5), (serve, name) => run(db, peer, serve, commits, name))
    peer.leave()
    const percent = (samples) => each(samples, 'share').map((share) => 100 * share)
    return {
      shared: time('main-thread time per commit and client, sendSSE', each(s.shared, 'cpu')),
      ratio: times('the same ÷ changes() and JSON.stringify per client', ratio(s.shared, s.alone, 'cpu'), {
        better: 'lower',
      }),
      main: count('main thread, sendSSE: % of a core', percent(s.shared), { better: 'lower' }),
      mainAlone: count('main thread, JSON.stringify per client: % of a core', percent(s.alone), {
        better: 'lower',
      }),
      events: count('events per commit and client, sendSSE', each(s.shared, 'events')),
      eventsAlone: count('events per commit and client, JSON.stringify', each(s.alone, 'events')),
      late: time('last commit → it has arrived at all clients, sendSSE', each(s.shared, 'late')),
      lateAlone: time('last commit → it has arrived at all clients, JSON.stringify', each(s.alone, 'late')),
      heap: bytes('heap per client, sendSSE', each(s.shared, 'heap')),
      resident: bytes('resident memory per client, sendSSE', each(s.shared, 'rss')),
    }
  },
}

function shared(db, response) {
  void sendSSE(db.stream(sql), response, { key: 'id' })
}

function alone(db, response) {
  const changes = db.stream(sql).patches({ key: 'id', rows: false })
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.once('close', () => void changes.return())
  return (async () => {
    for await (const patch of changes) response.write(`event: patch\ndata: ${JSON.stringify(patch)}\n\n`)
  })()
}

async function run(db, peer, serve, commits, name) {
  let events = 0
  const server = createServer((_, response) => {
    const write = response.write
    response.write = function (...given) {
      events++
      return write.apply(this, given)
    }
    void serve(db, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const before = await memory()
  await peer.open(clients, server.address().port)
  const opened = await memory()
  events = 0
  const start = process.threadCpuUsage()
  const began = performance.now()
  await offer(db, commits, rows, `the end of ${name}`)
  const last = performance.now()
  await peer.until(`the end of ${name}`)
  const late = performance.now() - last
  const { user, system } = process.threadCpuUsage(start)
  const cpu = (user + system) / 1000
  const share = cpu / (performance.now() - began)
  await peer.close()
  await new Promise((resolve) => server.close(resolve))
  await quiet(db)
  const per = (measure) => (opened[measure] - before[measure]) / clients
  return {
    cpu: cpu / commits / clients,
    share,
    late,
    events: events / commits / clients,
    heap: per('heap'),
    rss: per('rss'),
  }
}
