import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendSSE } from '../peers/resqlite.mjs'
import { quiet } from './counters.mjs'
import { bytes, times } from './figure.mjs'
import { makeRows } from './latency.mjs'
import { memory } from './memory.mjs'
import { offer, offered } from './offer.mjs'
import { SocketPeer } from './socket-peer.mjs'

const half = 500
const silent = 20
const rows = 100
const small = 'SELECT * FROM items ORDER BY id'
const large = `SELECT *, replace(printf('%8192c', ' '), ' ', value % 10) AS body FROM items ORDER BY id`

/** What a server holds for clients of server-sent events, which are in other processes. */
export const socketsMemory = {
  id: 'live-sockets-memory',
  version: 'v2',
  title: `memory: ${2 * half} clients of which ${half} are killed; and ${silent} that read nothing for a minute`,
  async measure({ open, rounds, quick }) {
    const db = await open('items')
    await makeRows(db, rows)
    await db.exec("ALTER TABLE items ADD COLUMN mark TEXT NOT NULL DEFAULT ''")
    await thousand(db, 'warming up')
    const killed = []
    while (killed.length < Math.min(rounds, 3)) killed.push(await thousand(db, `round ${killed.length}`))
    const slow = await unread(db, quick ? 10 : 60)
    const each = (measure) => killed.map((round) => round[measure])
    return {
      heap: bytes('heap per client', each('heap')),
      resident: bytes('resident memory per client', each('resident')),
      freed: times(`heap that ${half} killed clients leave free ÷ what they took`, each('freed'), {
        better: 'higher',
      }),
      left: bytes(
        `resident memory beyond that of ${half} clients after the others were killed`,
        each('left'),
      ),
      sent: bytes('sent to a client that reads, in the same time', slow.sent, { better: 'none' }),
      largest: bytes('the largest event', slow.largest, { better: 'none' }),
      queued: bytes('the most that waited in the process for a client that reads nothing', slow.queued),
      queuedEvents: times('the same ÷ the largest event', slow.queued / slow.largest, { better: 'lower' }),
      silent: bytes('resident memory that a client costs by reading nothing', slow.resident),
    }
  },
}

/** 1,000 clients have the same value; the process of half of them is killed, and the others go on. */
async function thousand(db, name) {
  const server = await Server.start(db, small)
  const peers = [await SocketPeer.start(), await SocketPeer.start()]
  const [staying, leaving] = peers
  const before = await memory()
  await Promise.all(peers.map((peer) => peer.open(half, server.port)))
  const opened = await memory()
  await write(db, peers, name)
  const full = await memory()
  await leaving.kill()
  await server.until(half)
  const after = await memory()
  await write(db, [staying], `${name}, after`)
  staying.leave()
  await server.close()
  const per = (measure) => (opened[measure] - before[measure]) / (2 * half)
  return {
    heap: per('heap'),
    resident: per('rss'),
    freed: (full.heap - after.heap) / half / per('heap'),
    left: after.rss - before.rss - half * per('rss'),
  }
}

/** Of clients of a large result, all but one stop to read. In the end all have the last commit. */
async function unread(db, seconds) {
  const server = await Server.start(db, large)
  const peer = await SocketPeer.start()
  await peer.open(silent + 1, server.port)
  // As much as what is measured, so that it grows by nothing but what is not read.
  await offer(db, offered * seconds, rows, 'warming up')
  await peer.until('warming up')
  await peer.pause(silent)
  const before = await memory()
  const seen = server.watch()
  await offer(db, offered * seconds, rows, 'while they do not read')
  await quiet(db)
  const after = await memory()
  const { sent, largest, queued } = seen()
  if (sent < 20 * largest) throw new Error('too little was sent to fill the buffers of the system')
  await peer.resume()
  await write(db, [peer], 'the end')
  peer.leave()
  await server.close()
  return { sent, largest, queued, resident: (after.rss - before.rss) / silent }
}

/** A commit that arrives at all clients. */
async function write(db, peers, mark) {
  const arrived = Promise.all(peers.map((peer) => peer.until(mark)))
  await db.execute('UPDATE items SET mark = ? WHERE id = 1', [mark])
  await arrived
  await quiet(db)
}

class Server {
  #largest = 0
  #responses = new Set()
  #server

  static async start(db, sql) {
    const server = new Server(db, sql)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  constructor(db, sql) {
    this.#server = createServer(async (_, response) => {
      const write = response.write
      let event = 0 // bytes of it so far: it may be sent in pieces, and ends with an empty line
      response.write = (chunk, ...given) => {
        event += chunk.length
        this.#largest = Math.max(this.#largest, event)
        if (Buffer.from(chunk).subarray(-2).toString() === '\n\n') event = 0
        return write.call(response, chunk, ...given)
      }
      this.#responses.add(response)
      await sendSSE(db.stream(sql), response, { key: 'id' })
      this.#responses.delete(response)
    })
  }

  get port() {
    return this.#server.address().port
  }

  async until(clients) {
    while (this.#responses.size > clients) await sleep(1)
  }

  /** Looks at what waits to be sent, until the function that it returns is called, which tells the most. */
  watch() {
    let queued = 0
    this.#largest = 0
    const look = () => Math.max(...[...this.#responses].map(({ writableLength }) => writableLength))
    const timer = setInterval(() => {
      queued = Math.max(queued, look())
    }, 5)
    const sentSoFar = () => Math.max(...[...this.#responses].map(({ socket }) => socket.bytesWritten))
    const before = sentSoFar()
    return () => {
      clearInterval(timer)
      return { queued, largest: this.#largest, sent: sentSoFar() - before }
    }
  }

  async close() {
    await this.until(0)
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
