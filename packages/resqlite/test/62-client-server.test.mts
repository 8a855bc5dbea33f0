import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { type RemoteQuery, remoteQuery } from 'resqlite/client'
import { sendSSE, sseResponse } from 'resqlite/sse'
import { random } from './support/random.js'
import { serve } from './support/sse.js'
import { tempDatabase } from './support/temp.js'

interface Item {
  id: number
  v: number
}

const SCHEMA = 'CREATE TABLE t(id INTEGER PRIMARY KEY, place REAL, v)'
const SQL = 'SELECT id, v FROM t ORDER BY place, id'
const KEY = { key: 'id' } as const

// G161
test('whatever is written, and wherever connections break, remote queries end with the result', async (t) => {
  const { seed, int, pick } = random()
  t.diagnostic(`seed ${seed}`)
  const db = await tempDatabase(t, SCHEMA)
  const sockets = new Set<Socket>()
  // Not one per request: one may come when the database has been closed, which is then an answer, not an exception.
  const live = db.stream<Item>(SQL)
  const { server, origin } = await serve(t, (_, response) => void sendSSE(live, response, KEY))
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const remotes = Array.from({ length: 6 }, () => remoteQuery<Item>(origin, { minDelay: 1, maxDelay: 5 }))
  const stops = remotes.map((remote) => watch(remote, seed))
  let last = 0
  const write = [
    () => db.execute('INSERT OR REPLACE INTO t VALUES (?, ?, ?)', [int(40), int(20), ++last]),
    () => db.execute('DELETE FROM t WHERE id = ?', [int(40)]),
    () => db.execute('UPDATE t SET place = ?, v = ? WHERE id = ?', [int(20), ++last, int(40)]),
    () => db.execute('UPDATE t SET place = 20 - place WHERE id % 3 = 0'),
  ]
  for (let round = 0; round < 60; round++) {
    for (let i = int(8); i >= 0; i--) await pick(write)()
    if (int(2) === 0) pick([...sockets, undefined])?.destroy()
    if (int(5) > 0) continue
    const expected = await db.select(SQL)
    await Promise.all(remotes.map((remote) => settled(remote, expected)))
  }
  for (const stop of stops) stop()
})

/** Subscribes, and checks that each value keeps the rows of the one before that did not change. */
function watch(remote: RemoteQuery<Item>, seed: number): () => void {
  let before = new Map<string, Item>()
  return remote.subscribe((rows) => {
    for (const row of rows) {
      const known = before.get(JSON.stringify(row))
      assert.ok(known === undefined || known === row, `seed ${seed}`)
    }
    before = new Map(rows.map((row) => [JSON.stringify(row), row]))
  })
}

/** Waits until a remote query has these rows, and is live. */
async function settled(remote: RemoteQuery<Item>, expected: readonly unknown[]): Promise<void> {
  const text = JSON.stringify(expected)
  const isThere = () => remote.state === 'live' && JSON.stringify(remote.current) === text
  await new Promise<void>((resolve) => {
    const stop = remote.subscribe({ next: look, state: look })
    function look() {
      if (isThere()) queueMicrotask(() => resolve(stop()))
    }
    look()
  })
}

// G161
test('while the server answers nobody, the remote query is stale, and then live again, with its rows', async (t) => {
  const db = await tempDatabase(t, `${SCHEMA}; INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)`)
  const live = db.stream<Item>(SQL)
  const { server, origin } = await serve(t, (_, response) => void sendSSE(live, response, KEY))
  // It keeps its port, which another process could take.
  let isDown = false
  server.on('connection', (socket) => isDown && socket.destroy())
  const remote = remoteQuery<Item>(origin, { minDelay: 1, maxDelay: 20 })
  const states: string[] = []
  const stop = remote.subscribe({ state: (state) => states.push(state) })
  await settled(remote, await db.select(SQL))
  const before = remote.current
  isDown = true
  server.closeAllConnections()
  while (remote.state !== 'stale') await new Promise(setImmediate)
  await db.execute('UPDATE t SET v = 3 WHERE id = 2')
  isDown = false
  await settled(remote, await db.select(SQL))
  assert.deepEqual(states, ['live', 'stale', 'live'])
  assert.equal(remote.current?.[0], before?.[0])
  stop()
})

test('it reads the events of sseResponse', async (t) => {
  const db = await tempDatabase(t, `${SCHEMA}; INSERT INTO t VALUES (1, 1, 1)`)
  const get = async (url: string, init: RequestInit) =>
    sseResponse(db.stream<Item>(SQL), new Request(url, init), KEY)
  const remote = remoteQuery<Item>('http://localhost/items', { fetch: get as typeof fetch })
  const stop = remote.subscribe(() => {})
  await settled(remote, await db.select(SQL))
  await db.execute('INSERT INTO t VALUES (2, 0, 2)')
  await settled(remote, await db.select(SQL))
  stop()
  while ((await db.diagnostics()).streams.open > 0) await new Promise(setImmediate)
})
