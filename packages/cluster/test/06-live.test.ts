import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { LiveQuery } from 'resqlite'
import { sendSSE } from 'resqlite/sse'
import { all, three } from './support/nodes'

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) INSERT INTO users SELECT i, 'user ' || i FROM n;
`

/** The values of a live query, one after the other. */
function values<T>(t: TestContext, live: LiveQuery<T>): AsyncIterator<T> {
  const iterator = live[Symbol.asyncIterator]()
  t.after(() => iterator.return?.())
  return iterator
}

// G349
test('a live query of a follower shows what another node has written', async (t) => {
  const { follower, other } = await three(t, SCHEMA)
  const names = values(t, follower.stream('SELECT name FROM users WHERE id = ?', [7]))
  assert.deepEqual((await names.next()).value, [{ name: 'user 7' }])
  await other.execute("UPDATE users SET name = 'Ada' WHERE id = 7")
  assert.deepEqual((await names.next()).value, [{ name: 'Ada' }])
})

// G349
test('live queries of a follower run only where a row concerns them', async (t) => {
  const { writer, follower } = await three(t, SCHEMA)
  const lives = Array.from({ length: 50 }, (_, i) =>
    follower.stream('SELECT name FROM users WHERE id = ?', [i + 1]),
  )
  const iterators = lives.map((live) => values(t, live))
  await Promise.all(iterators.map((iterator) => iterator.next()))
  const before = (await follower.diagnostics()).streams
  for (let id = 1; id <= 50; id++) {
    await writer.execute('UPDATE users SET name = ? WHERE id = ?', [`new ${id}`, id])
    assert.deepEqual((await iterators[id - 1]?.next())?.value, [{ name: `new ${id}` }])
  }
  await all([follower])
  const { streams } = await follower.diagnostics()
  assert.equal(streams.emitted - before.emitted, 50)
  assert.equal(streams.skippedByKey - before.skippedByKey, 50 * 49)
  assert.deepEqual([streams.unchanged - before.unchanged, streams.missed], [0, 0])
  for (const live of lives) assert.equal(live.stats.emitted, 2)
})

// G349
test('a commit listener of a follower is told the rows of other nodes', async (t) => {
  const { follower, other } = await three(t, SCHEMA)
  const events = follower.commits({ detail: 'rows' })
  const first = events.next()
  await other.execute("UPDATE users SET name = 'Ada' WHERE id = 7")
  const { value } = await first
  const users = value?.tables?.find(({ table }: { table: string }) => table === 'users')
  assert.deepEqual(users?.rows, [
    { operation: 'update', key: { id: 7 }, old: { id: 7, name: 'user 7' }, new: { id: 7, name: 'Ada' } },
  ])
  await events.return?.()
})

// G349
test('events of a live query of a follower reach a client', async (t) => {
  const { follower, other } = await three(t, SCHEMA)
  const live = follower.stream('SELECT id, name FROM users WHERE id < 3 ORDER BY id')
  const server = createServer((_, response) => void sendSSE(live, response, { key: 'id' }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  const until = async (part: string) => {
    while (!text.includes(part)) text += Buffer.from((await reader.read()).value ?? []).toString()
  }
  await until('"name":"user 2"')
  await other.execute("UPDATE users SET name = 'Ada' WHERE id = 2")
  await until('"name":"Ada"')
  await reader.cancel()
})
