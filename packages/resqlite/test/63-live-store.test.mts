import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remoteQuery } from 'resqlite/client'
import { liveQuery } from 'resqlite/svelte'
import { ScriptedSource } from './support/scripted-source.mjs'
import { tempDatabase } from './support/temp.js'

// What the subpaths for frameworks have in common, by that of Svelte, which adds nothing to it.

const turn = () => new Promise(setImmediate)

/** Subscribes to the store of a source, and keeps what it is told. */
function listen<V>(store: ReturnType<typeof liveQuery<V>>) {
  const told: { data: V | undefined; state: string; error: Error | undefined }[] = []
  const stop = store.subscribe((result) => told.push(result))
  return { told, stop }
}

// G167
test('a store has the value, the state and the error of its source, each time a new object', async () => {
  const source = new ScriptedSource<number[]>()
  const { told, stop } = listen(liveQuery(source))
  await turn()
  const down = new Error('down')
  source.next([1])
  source.fail(down)
  source.next([2])
  source.lose()
  stop()
  assert.deepEqual(told, [
    { data: undefined, state: 'connecting', error: undefined },
    { data: [1], state: 'live', error: undefined },
    { data: [1], state: 'error', error: down },
    { data: [2], state: 'live', error: undefined },
    { data: [2], state: 'stale', error: undefined },
  ])
})

// G170
test('listeners that come and go in one go share one subscription', async () => {
  const source = new ScriptedSource<number[]>()
  const store = liveQuery(source)
  const first = listen(store)
  first.stop()
  const second = listen(store)
  await turn()
  second.stop()
  const third = listen(store)
  await turn()
  assert.deepEqual([source.subscribed, source.open], [1, 1])
  third.stop()
  third.stop()
  await turn()
  assert.deepEqual([source.subscribed, source.open], [1, 0])
})

// G170
test('a listener that leaves at once, as on a server, never subscribes', async () => {
  const source = new ScriptedSource<number[]>()
  listen(liveQuery(source)).stop()
  await turn()
  assert.equal(source.subscribed, 0)
})

// G168
test('live queries with the same SQL, parameters and options on one database are equal', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)')
  const sql = 'SELECT a FROM t WHERE a >= ?'
  const one = listen(liveQuery(db.stream(sql, [1])))
  const same = listen(liveQuery(db.stream(sql, [1])))
  const others = [
    listen(liveQuery(db.stream(sql, [2]))),
    listen(liveQuery(db.stream(sql, [1], { arrays: true }))),
    listen(liveQuery(db.stream(sql, [1], { signal: new AbortController().signal }))),
  ]
  while ([one, same, ...others].some(({ told }) => told.length < 2)) await turn()
  assert.equal(one.told[1], same.told[1])
  for (const other of others) assert.notEqual(other.told[1], one.told[1])
  assert.deepEqual(others[0]?.told[1]?.data, [{ a: 2 }])
  for (const { stop } of [one, same, ...others]) stop()
})

// G168
test('remote queries with the same address and options are equal', async (t) => {
  const requests: string[] = []
  const fetch = ((url: string, { signal }: RequestInit) => {
    requests.push(url)
    return new Promise((_, reject) => signal?.addEventListener('abort', reject))
  }) as typeof globalThis.fetch
  const headers = () => ({})
  const listeners = [
    remoteQuery('/a', { fetch, headers: { a: 'b' } }),
    remoteQuery('/a', { fetch, headers: { a: 'b' } }),
    remoteQuery('/a', { fetch, headers: { a: 'c' } }),
    remoteQuery('/a', { fetch, headers }),
    remoteQuery('/a', { fetch, headers }),
    remoteQuery('/a', { fetch, headers: () => ({}) }),
    remoteQuery('/b', { fetch, headers }),
  ].map((remote) => listen(liveQuery(remote)))
  t.after(() => {
    for (const { stop } of listeners) stop()
  })
  await turn()
  assert.deepEqual(requests, ['/a', '/a', '/a', '/a', '/b'])
})

// G168
test('what a server wrote into one page is not shown in another', async () => {
  const page = (id: number) => {
    const rows = [{ index: 0, row: { id } }]
    const data = { added: rows, removed: [], updated: [], moved: [], commit: 1, since: 0, version: 1 }
    return remoteQuery('/me', { initial: { event: 'full', id: 's.1', data: JSON.stringify(data) } })
  }
  const [one, other] = [listen(liveQuery(page(1))), listen(liveQuery(page(2)))]
  for (const { stop } of [one, other]) stop()
  assert.deepEqual([one.told[0]?.data, other.told[0]?.data], [[{ id: 1 }], [{ id: 2 }]])
  assert.equal(one.told[0]?.state, 'stale')
})

test('a query that never worked, and a closed database, are errors', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a)')
  const unused = liveQuery(db.stream('SELECT a FROM t WHERE a > 0'))
  const none = listen(liveQuery(db.stream('SELECT a FROM none')))
  const works = listen(liveQuery(db.stream('SELECT a FROM t')))
  const codeOf = ({ told }: typeof none) => (told.at(-1)?.error as { code?: string } | undefined)?.code
  while (none.told.length < 2 || works.told.length < 2) await turn()
  assert.equal(codeOf(none), 'SQLITE_ERROR')
  await db.close()
  while (works.told.length < 3) await turn()
  assert.deepEqual([works.told.at(-1)?.data, works.told.at(-1)?.state], [[], 'error'])
  const late = listen(unused)
  await turn()
  assert.equal(codeOf(late), 'RESQLITE_CLOSED')
  for (const { stop } of [none, works, late]) stop()
})

test('a source that has ended says so', async () => {
  const source = new ScriptedSource<number[]>()
  const { told, stop } = listen(liveQuery(source))
  await turn()
  source.complete()
  assert.match(String(told.at(-1)?.error), /has ended/)
  stop()
})
