import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2ServerResponse,
} from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import type { Database } from 'resqlite'
import { sendSSE } from 'resqlite/sse'
import { start } from './support/process'
import type { Tools } from './support/process-tools'
import { random, throws } from './support/random'
import { EventReader, serve } from './support/sse'
import { tempDatabase, tempFile } from './support/temp'

const SCHEMA = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, v);
  WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 200) INSERT INTO t SELECT id, id FROM n
`
const SQL = 'SELECT id, v FROM t ORDER BY id'
const KEY = { key: 'id' } as const

const noStreams = async (db: Database) => {
  while ((await db.diagnostics()).streams.open > 0) await new Promise(setImmediate)
}

// G157
test('clients that leave at any byte of an answer leave nothing behind', async (t) => {
  const { seed, int } = random()
  t.diagnostic(`seed ${seed}`)
  const db = await tempDatabase(t, SCHEMA)
  let served = 0
  const { origin } = await serve(t, async (_, response) => {
    served++
    await sendSSE(db.stream(SQL), response, KEY)
    served--
  })
  const stays = await EventReader.open(origin)
  await stays.next()
  const leaving = Array.from({ length: 60 + throws(240) }, () =>
    leaveAfter(Number(new URL(origin).port), int(12_000)),
  )
  for (let v = 0; v < 12; v++)
    await db.execute('UPDATE t SET v = hex(randomblob(20)) WHERE id % 3 = ?', [v % 3])
  // The whole result and one patch have more bytes than that.
  await Promise.all(leaving)
  while (served > 1) await new Promise(setImmediate)
  await db.execute("UPDATE t SET v = 'the end' WHERE id = 1")
  while (!(await stays.next())?.data.includes('the end'));
  stays.leave()
  await noStreams(db)
})

/** Connects, and leaves without a word after so many bytes of the answer, or before it. */
async function leaveAfter(port: number, bytes: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  let got = 0
  while (got < bytes) got += (await once(socket, 'data'))[0].length
  if (bytes % 2 === 0) socket.resetAndDestroy()
  else socket.destroy()
}

// G156
test('over HTTP/2, a client that does not read costs one event, and is disconnected in the end', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const responses: Http2ServerResponse[] = []
  const ended: Promise<void>[] = []
  const server = createHttp2Server((_, response) => {
    responses.push(response)
    ended.push(sendSSE(db.stream(SQL), response, KEY))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connectHttp2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  session.on('error', () => {})
  const [silent, reads] = [session.request(), session.request()]
  silent.on('error', () => {})
  let text = ''
  reads.setEncoding('utf8').on('data', (piece) => {
    text += piece
  })
  const until = async (part: string) => {
    while (!text.includes(part)) await once(reads, 'data')
    text = ''
  }
  await until('event: full')
  let most = 0
  for (let v = 0; v < 6; v++) {
    await db.execute('UPDATE t SET v = hex(randomblob(1000)) || ?', [`round ${v} `])
    await until(`round ${v} `)
    most = Math.max(most, responses[0]?.writableLength ?? 0)
  }
  assert.ok(most > 0 && most < 1_000_000, `${most} bytes`)
  await db.close()
  await Promise.all(ended)
  session.destroy()
  server.close()
})

// G159
test('a process that closes its database and then its server ends, whatever its clients do', async (t) => {
  async function main({ Database, say }: Tools, file: string, ssePath: string) {
    const { createServer } = await import('node:http')
    const { sendSSE } = await import(ssePath)
    const db = await Database.open(file)
    await db.exec(
      'CREATE TABLE t(id INTEGER PRIMARY KEY, v); INSERT INTO t VALUES (1, hex(zeroblob(4000000)))',
    )
    const server = createServer(async (request, response) => {
      if (request.url !== '/end') return sendSSE(db.stream('SELECT * FROM t'), response, { key: 'id' })
      response.end()
      await db.close()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    say((server.address() as { port: number }).port)
  }
  const child = start(t, main, tempFile(t), require.resolve('resqlite/sse'))
  const origin = `http://127.0.0.1:${await child.line()}`
  const reads = await EventReader.open(origin)
  const silent = connect(Number(new URL(origin).port), '127.0.0.1').pause()
  silent.on('error', () => {})
  silent.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  await reads.next()
  await fetch(`${origin}/end`)
  await reads.next().catch(() => {})
  assert.equal((await child.ended).code, 0)
  silent.destroy()
})
