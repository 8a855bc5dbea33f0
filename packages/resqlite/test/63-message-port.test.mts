import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Database } from 'resqlite'
import { type RemoteQuery, remoteQuery } from 'resqlite/client'
import { type Port, portFetch, servePort } from 'resqlite/message-port'
import { sseResponse } from 'resqlite/sse'
import { gate } from './support/errors.js'
import { collectGarbage } from './support/garbage.js'
import { EventReader } from './support/sse.js'
import { noStreams, type Task, taskDatabase, tasksOf, turn } from './support/tasks.mjs'

/** A database whose lists are served at one end of a channel, and a `fetch` at the other end. */
async function fixture(t: TestContext) {
  const db = await taskDatabase(t)
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  servePort(port1, answer(db))
  return { db, port1, port2, fetch: portFetch(port2) }
}

const answer = (db: Database) => (request: Request) => {
  const list = /^\/lists\/(\d+)$/.exec(new URL(request.url).pathname)?.[1]
  if (list === undefined) return new Response('no such list', { status: 404 })
  return sseResponse(tasksOf(db, Number(list)), request, { key: 'id' })
}

/** Subscribes until the test ends, and waits for titles. */
function watch(t: TestContext, remote: RemoteQuery<Task>) {
  const stop = remote.subscribe(() => {})
  t.after(stop)
  const until = async (titles: string) => {
    while (remote.current?.map(({ title }) => title).join() !== titles) await turn()
  }
  return { stop, until }
}

// G177
test('a remote query has the result through a message port, and then each new one', async (t) => {
  const { db, fetch } = await fixture(t)
  const remote = remoteQuery<Task>('/lists/7', { fetch })
  const { until } = watch(t, remote)
  await until('Rake,Mow')
  const [rake] = remote.current as Task[]
  await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
  await until('Rake,Mow,Dig')
  assert.equal(remote.current?.[0], rake)
})

// G177
test('many remote queries share a port, and each frees its live query when it leaves', async (t) => {
  const { db, fetch } = await fixture(t)
  const [one, other] = [7, 8].map((list) => watch(t, remoteQuery<Task>(`/lists/${list}`, { fetch })))
  await one?.until('Rake,Mow')
  await other?.until('Paint')
  assert.equal((await db.diagnostics()).streams.open, 2)
  one?.stop()
  while ((await db.diagnostics()).streams.open > 1) await turn()
  await db.execute("UPDATE tasks SET title = 'Sand' WHERE id = 3")
  await other?.until('Sand')
  other?.stop()
  await noStreams(db)
})

// G177
test('a remote query that leaves after a garbage collection frees its live query', async (t) => {
  const db = await taskDatabase(t)
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  const signals = new Promise<AbortSignal>((resolve) => {
    servePort(port1, (request) => {
      resolve(request.signal)
      return answer(db)(request)
    })
  })
  const { stop, until } = watch(t, remoteQuery<Task>('/lists/7', { fetch: portFetch(port2) }))
  await until('Rake,Mow')
  collectGarbage()
  const left = once(await signals, 'abort')
  stop()
  await Promise.all([left, noStreams(db)])
})

// G177
test('a remote query that connects anew goes on from the last event', async (t) => {
  const db = await taskDatabase(t)
  const keep = new EventReader(sseResponse(tasksOf(db, 7), new Request('http://a'), { key: 'id' }))
  await keep.next()
  const ids: (string | null)[] = []
  const { port1: near, port2: far } = new MessageChannel()
  t.after(() => near.close())
  servePort(near, (request) => {
    ids.push(request.headers.get('last-event-id'))
    return answer(db)(request)
  })
  const remote = remoteQuery<Task>('/lists/7', { fetch: portFetch(far) })
  const patches: unknown[] = []
  t.after(remote.subscribe((_, info) => patches.push(info.patches?.length)))
  while (patches.length < 1) await turn()
  remote.reconnect()
  await db.execute('DELETE FROM tasks WHERE id = 1')
  while (patches.length < 2) await turn()
  assert.deepEqual(patches, [undefined, 1])
  assert.match(String(ids[1]), /^[\w-]{8}\.\d+$/)
  keep.leave()
})

// G177
test('a port that closes frees the live queries, and remote queries are stale', async (t) => {
  const { db, port2, fetch } = await fixture(t)
  const remote = remoteQuery<Task>('/lists/7', { fetch })
  const { until } = watch(t, remote)
  await until('Rake,Mow')
  port2.close()
  await noStreams(db)
  while (remote.state !== 'stale') await turn()
  await assert.rejects(fetch('/lists/7'), /port has closed/)
})

// G177
test('who does not read gets one patch for all that it missed', async (t) => {
  const { db, fetch } = await fixture(t)
  const events = new EventReader(await fetch('/lists/7'))
  await events.next()
  const title = (i: number) => `${i} `.padEnd(100_000, 'x')
  for (let i = 1; i <= 30; i++) await db.execute('UPDATE tasks SET title = ? WHERE id = 1', [title(i)])
  let count = 0
  for (;;) {
    const { data } = (await events.next()) as { data: string }
    count++
    if (data.includes('"30 ')) break
  }
  assert.ok(count < 10, `${count} patches`)
  events.leave()
  await noStreams(db)
})

test('the fetch of a port takes requests, refuses what it cannot send, and is aborted before it asks', async (t) => {
  const { fetch, db } = await fixture(t)
  const response = await fetch(new Request('http://port/lists/7'))
  assert.equal(response.status, 200)
  await response.body?.cancel()
  await assert.rejects(fetch('/lists/7', { method: 'POST', body: 'x' }), /method GET, not POST/)
  await assert.rejects(fetch('/lists/7', { signal: AbortSignal.abort() }), { name: 'AbortError' })
  await noStreams(db)
})

test('an answer that is a refusal is told as over HTTP', async (t) => {
  const { fetch } = await fixture(t)
  const remote = remoteQuery('/nothing', { fetch })
  t.after(remote.subscribe(() => {}))
  while (remote.state !== 'error') await turn()
  assert.equal(remote.error?.code, 'HTTP_404')
  assert.equal(await (await fetch('/nothing')).text(), 'no such list')
})

/** Resolves with the next uncaught exception. */
function uncaught(t: TestContext): Promise<unknown> {
  const { promise, open } = gate<unknown>()
  const others = process.rawListeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.once('uncaughtException', open)
  t.after(() => {
    process.removeListener('uncaughtException', open)
    for (const other of others) process.on('uncaughtException', other as () => void)
  })
  return promise
}

// G177
test('if the answer throws, the status is 500, and the error becomes an uncaught exception', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  const thrown = uncaught(t)
  const error = new Error('broken')
  servePort(port1, () => {
    throw error
  })
  assert.equal((await portFetch(port2)('/')).status, 500)
  assert.equal(await thrown, error)
})

// G177
test('an answer that is no response has the status 500, and becomes an uncaught exception', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  const thrown = uncaught(t)
  servePort(port1, (() => {}) as unknown as () => Response)
  const answered = portFetch(port2)('/').then(({ status }) => status)
  assert.match(String(await thrown), /^TypeError: servePort: the answer must be a Response, not undefined$/)
  assert.equal(await answered, 500)
})

// G180
test('a response whose body is read already has the status 500, and becomes an uncaught exception', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  const thrown = uncaught(t)
  const once = new Response('text')
  servePort(port1, () => once)
  const fetch = portFetch(port2)
  assert.equal(await (await fetch('/')).text(), 'text')
  const answered = fetch('/').then(({ status }) => status)
  assert.match(String(await thrown), /^TypeError: servePort: the body of the answer is read already/)
  assert.equal(await answered, 500)
})

test('whoever leaves before the answer is there causes no error, whatever the answer does then', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  servePort(port1, async ({ url, signal }) => {
    if (url.endsWith('/stays')) return new Response('there')
    await once(signal, 'abort')
    if (url.endsWith('/fails')) throw signal.reason
    const cancel = () => {
      throw new Error('broken')
    }
    return new Response(new ReadableStream({ cancel }))
  })
  for (const [id, path] of [
    [101, 'fails'],
    [102, 'breaks'],
  ]) {
    port2.postMessage({ id, ask: 'open', url: `http://port/${path}`, headers: [] })
    port2.postMessage({ id, ask: 'end' })
  }
  assert.equal((await portFetch(port2)('/stays')).status, 200)
  // An error that nobody has caught fails the test.
  await turn()
})

// G177
test('a body that fails breaks off, and does not end as if it were complete', async (t) => {
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  const parts = [new TextEncoder().encode('half')]
  const body = () =>
    new ReadableStream({
      pull(stream) {
        const part = parts.shift()
        if (part !== undefined) stream.enqueue(part)
        else stream.error(new Error('secret'))
      },
    })
  servePort(port1, () => new Response(body()))
  const response = await portFetch(port2)('/')
  await assert.rejects(response.text(), { name: 'TypeError', message: 'The answer has broken off' })
})

/** Messages that are no request, or that ask for what is none. */
const noRequests: unknown[] = [
  null,
  undefined,
  7,
  'open',
  [],
  {},
  { id: '1', ask: 'open', url: 'http://port/' },
  { id: 1 },
  { id: 1, ask: 'open' },
  { id: 1, ask: 'open', url: '/lists/7', headers: [] },
  { id: 1, ask: 'open', url: 7, headers: [] },
  { id: 1, ask: 'open', url: 'http://port/', headers: 'none' },
  { id: 1, ask: 'open', url: 'http://port/', headers: [['a b', 'c']] },
  { id: 1, ask: 'open', url: 'http://port/', headers: [['a']] },
  { id: 1, ask: 'open', url: 'http://port/', headers: [['a', 'b\0']] },
  { id: 1, ask: 'write' },
  { id: 1, ask: 'more' },
  { id: 1, ask: 'end' },
]

// G204
test('a message that is no request harms neither the process nor other requests', async (t) => {
  const { db, fetch, port2 } = await fixture(t)
  const { until } = watch(t, remoteQuery<Task>('/lists/7', { fetch }))
  await until('Rake,Mow')
  for (const message of noRequests) port2.postMessage(message === null ? null : withOtherId(message))
  await db.execute('DELETE FROM tasks WHERE id = 1')
  await until('Mow')
  assert.equal((await fetch('/nothing')).status, 404)
})

/** Not that of a request which is under way. */
const withOtherId = (message: unknown) =>
  typeof (message as { id: unknown })?.id === 'number' ? { ...(message as object), id: 1000 } : message

test('a request whose address or headers are none breaks off', async (t) => {
  const { port2 } = await fixture(t)
  const replies: unknown[] = []
  port2.on('message', (reply) => replies.push(reply))
  for (const message of noRequests.slice(8, 15)) port2.postMessage(message)
  while (replies.length < 7) await turn()
  assert.deepEqual(replies, Array(7).fill({ id: 1, broken: true }))
})

test('a request with the number of another one takes its place', async (t) => {
  const { db, port2 } = await fixture(t)
  const open = { id: 1, ask: 'open', url: 'http://port/lists/7', headers: [] }
  for (let i = 0; i < 3; i++) port2.postMessage(open)
  while ((await db.diagnostics()).streams.open !== 1) await turn()
  port2.postMessage({ id: 1, ask: 'end' })
  await noStreams(db)
})

for (const [what, replies] of [
  ['a status that is none', [{ status: 99_999, headers: [] }]],
  ['a header that is none', [{ status: 200, headers: [['a b', 'c']] }]],
  ['a part that is none', [{ status: 200, headers: [] }, { bytes: 'text' }]],
  [
    'a second status',
    [
      { status: 200, headers: [] },
      { status: 200, headers: [] },
    ],
  ],
  ['an end before the beginning', [{ end: true }]],
  ['something else', [{ greeting: 'hello' }]],
] as const) {
  // G204
  test(`an answer with ${what} breaks off at the other end of a port`, async (t) => {
    const { port1, port2 } = new MessageChannel()
    t.after(() => port1.close())
    const fetch = portFetch(port1)
    port2.on('message', ({ id, ask }) => {
      if (ask !== 'open') return
      for (const message of [null, 7, {}]) port2.postMessage(message)
      for (const reply of replies) port2.postMessage({ id, ...reply })
    })
    const read = async () => (await fetch('/')).text()
    await assert.rejects(read(), { name: 'TypeError', message: 'The answer has broken off' })
  })
}

test('a worker shows what the main thread serves', async (t) => {
  const { db, port2 } = await fixture(t)
  const program = `
    import { workerData, parentPort } from 'node:worker_threads'
    import { remoteQuery } from 'resqlite/client'
    import { portFetch } from 'resqlite/message-port'
    remoteQuery('/lists/7', { fetch: portFetch(workerData) }).subscribe((rows) => parentPort.postMessage(rows))
  `
  const url = new URL(`data:text/javascript,${encodeURIComponent(resolved(program))}`)
  const worker = new Worker(url, { workerData: port2, transferList: [port2] })
  t.after(() => worker.terminate())
  const values: Task[][] = []
  worker.on('message', (rows) => values.push(rows))
  while (values.length < 1) await turn()
  await db.execute('DELETE FROM tasks WHERE id = 1')
  while (values.length < 2) await turn()
  assert.deepEqual(values[1], [{ id: 2, title: 'Mow' }])
  await worker.terminate()
  await noStreams(db)
})

/** A module from a data URL cannot import by names. */
const resolved = (program: string) =>
  program.replaceAll(/'(resqlite\/[\w-]+)'/g, (_, name) => `'${import.meta.resolve(name)}'`)

// G177
test('a port of Electron, which emits events instead of messages, is served as well', async (t) => {
  const db = await taskDatabase(t)
  const { port1, port2 } = new MessageChannel()
  t.after(() => port1.close())
  servePort(new MainPort(port1), answer(db))
  const { until } = watch(t, remoteQuery<Task>('/lists/8', { fetch: portFetch(port2) }))
  await until('Paint')
  port2.close()
  await noStreams(db)
})

/** Has the interface of `MessagePortMain`. */
class MainPort extends EventEmitter implements Port {
  readonly #port: MessagePort

  constructor(port: MessagePort) {
    super()
    this.#port = port
    port.on('close', () => this.emit('close'))
  }

  postMessage(message: unknown): void {
    this.#port.postMessage(message)
  }

  start(): void {
    this.#port.on('message', (data) => this.emit('message', { data, ports: [] }))
  }
}
