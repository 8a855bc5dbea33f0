import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type RemoteOptions, type RemotePatch, type RemoteState, remoteQuery } from 'resqlite/client'
import { gate } from './support/errors.js'
import { ScriptedServer } from './support/scripted-server.mjs'

interface Pair {
  id: number
  v: string
}

const A = { id: 1, v: 'a' }
const B = { id: 2, v: 'b' }
const C = { id: 3, v: 'c' }

/** A remote query, whose server is the test, with a subscriber whose calls are awaited one after another. */
function fixture(t: TestContext, options: RemoteOptions = {}) {
  const server = new ScriptedServer()
  const remote = remoteQuery<Pair>('/pairs', { fetch: server.fetch, minDelay: 1, maxDelay: 1, ...options })
  const calls: { rows?: readonly Pair[]; state?: RemoteState; code?: string }[] = []
  let called = () => {}
  const add = (call: (typeof calls)[number]) => {
    calls.push(call)
    called()
  }
  const stop = remote.subscribe({
    next: (rows) => add({ rows }),
    state: (state) => add({ state }),
    error: ({ code }) => add({ code }),
  })
  t.after(stop)
  const next = async () => {
    while (calls.length === 0) {
      const { promise, open } = gate()
      called = open
      await promise
    }
    return calls.shift() as (typeof calls)[number]
  }
  const value = async () => {
    for (;;) {
      const { rows } = await next()
      if (rows !== undefined) return rows
    }
  }
  const until = async (state: RemoteState) => {
    while ((await next()).state !== state) {}
  }
  return { server, remote, stop, calls, next, value, until }
}

const turns = async (count = 20) => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate)
}

test('a remote query has the result, and then each new one', async (t) => {
  const { server, remote, next } = fixture(t)
  assert.deepEqual([remote.current, remote.state], [undefined, 'connecting'])
  const answer = await server.accept()
  answer.full(5, [A, B])
  assert.deepEqual([await next(), await next()], [{ rows: [A, B] }, { state: 'live' }])
  answer.patch(5, 6, 2, [C])
  assert.deepEqual(await next(), { rows: [A, B, C] })
  assert.deepEqual([remote.current, remote.state], [[A, B, C], 'live'])
})

// G161
test('rows that did not change are the same objects, and a patch that changes nothing keeps the array', async (t) => {
  const { server, remote, value } = fixture(t)
  const answer = await server.accept()
  answer.full(5, [A, B])
  const before = await value()
  answer.patch(5, 5, 2)
  answer.patch(5, 6, 2, [C])
  const now = await value()
  assert.ok(now[0] === before[0] && now[1] === before[1] && now !== before)
  assert.equal(remote.current, now)
})

test('patches that come together are one value', async (t) => {
  const { server, value, calls } = fixture(t)
  const answer = await server.accept()
  answer.full(5, [A])
  await value()
  const patch = (since: number, index: number, row: object) =>
    `event: patch\nid: s.${since + 1}\ndata: ${JSON.stringify({ added: [{ index, row }], removed: [], updated: [], moved: [], since, version: since + 1, commit: 1 })}\n\n`
  answer.send(patch(5, 1, B) + patch(6, 2, C))
  assert.deepEqual(await value(), [A, B, C])
  await turns()
  assert.deepEqual(calls, [])
})

// G161
test('a lost connection is made again, from the last event on', async (t) => {
  const { server, remote, value, until } = fixture(t)
  const first = await server.accept()
  first.full(5, [A, B])
  const before = await value()
  first.end()
  await until('stale')
  assert.equal(remote.current, before)
  await server.fail()
  await server.refuse(503)
  const second = await server.accept()
  assert.equal(server.requests.at(-1)?.headers['last-event-id'], 'server.5')
  second.patch(5, 5, 2)
  await until('live')
  assert.equal(remote.current, before)
})

// G161
test('a whole result keeps the rows that are known, and the array if nothing changed', async (t) => {
  const { server, remote, value, until } = fixture(t)
  const first = await server.accept()
  first.full(5, [A, B])
  const before = await value()
  first.end()
  const second = await server.accept()
  second.full(1, [A, B])
  await until('live')
  assert.equal(remote.current, before)
  second.full(2, [C, B, { ...A, v: 'new' }])
  const now = await value()
  assert.deepEqual(now, [C, B, { ...A, v: 'new' }])
  assert.equal(now[1], before[1])
})

// G175
test('a subscriber gets the patches that lead from the value before, and none with a whole result', async (t) => {
  const { server, remote, until } = fixture(t)
  const told: unknown[] = []
  const listen = () => remote.subscribe((rows, { patches }) => told.push([rows.length, patches?.map(lists)]))
  const lists = ({ added, removed }: RemotePatch<Pair>) => [added, removed]
  const first = listen()
  const answer = await server.accept()
  answer.full(5, [A])
  await until('live')
  answer.patch(5, 6, 1, [B])
  while (told.length < 2) await turns(1)
  const late = listen()
  while (told.length < 3) await turns(1)
  answer.end()
  const second = await server.accept()
  second.full(7, [C])
  while (told.length < 5) await turns(1)
  assert.deepEqual(told, [
    [1, undefined],
    [2, [[[{ index: 1, row: B }], []]]],
    [2, undefined],
    [1, undefined],
    [1, undefined],
  ])
  first()
  late()
})

const written = (event: string, data: object) => ({ event, id: 'server.5', data: JSON.stringify(data) })
const lists = { added: [{ index: 0, row: A }], removed: [], updated: [], moved: [] }

// G173
test('with the event that a server wrote into the page, the rows are there at once, and it goes on from there', async (t) => {
  const initial = written('full', { ...lists, commit: 5, since: 0, version: 5 })
  const { server, remote, value, until } = fixture(t, { initial })
  assert.deepEqual([remote.current, remote.state], [[A], 'stale'])
  const before = await value()
  const answer = await server.accept()
  assert.equal(server.requests[0]?.headers['last-event-id'], 'server.5')
  answer.patch(5, 6, 1, [B])
  await until('live')
  assert.deepEqual(remote.current, [A, B])
  assert.equal(remote.current?.[0], before[0])
})

test('with an error that a server wrote into the page, there is an error until the query works', async (t) => {
  const { server, remote, until } = fixture(t, { initial: written('failed', { code: 'SQLITE_ERROR' }) })
  assert.deepEqual([remote.current, remote.state, remote.error?.code], [undefined, 'error', 'SQLITE_ERROR'])
  const answer = await server.accept()
  answer.full(5, [A])
  await until('live')
  assert.equal(remote.error, undefined)
})

const misfits: Record<
  string,
  (answer: { send(text: string): void; patch: (...args: never[]) => void }) => void
> = {
  'from another version': (answer) => answer.patch(...([4, 6, 2, [C]] as never[])),
  'behind the end': (answer) => answer.patch(...([5, 6, 7, [C]] as never[])),
  'without lists': (answer) => answer.send('event: patch\ndata: {"since":5,"version":6}\n\n'),
  'that is no JSON': (answer) => answer.send('event: patch\ndata: {"sin\n\n'),
}
for (const [which, send] of Object.entries(misfits)) {
  // G162
  test(`a patch ${which} is refused, and the whole result asked for`, async (t) => {
    const { server, remote, value } = fixture(t)
    const first = await server.accept()
    first.full(5, [A, B])
    const before = await value()
    send(first)
    await first.left
    const second = await server.accept()
    assert.equal(remote.current, before)
    assert.equal(server.requests.at(-1)?.headers['last-event-id'], undefined)
    second.full(6, [A, B, C])
    assert.deepEqual(await value(), [A, B, C])
  })
}

test('an error of the live query is told, with its code, until it works again', async (t) => {
  const { server, remote, value, next } = fixture(t)
  const answer = await server.accept()
  answer.full(5, [A])
  await value()
  await next()
  answer.send('event: failed\ndata: {"code":"SQLITE_BUSY"}\n\n')
  assert.deepEqual([await next(), await next()], [{ code: 'SQLITE_BUSY' }, { state: 'error' }])
  assert.match(String(remote.error), /^RemoteError: .* failed on the server: SQLITE_BUSY$/)
  assert.deepEqual(remote.current, [A])
  answer.patch(5, 5, 1)
  assert.deepEqual(await next(), { state: 'live' })
  assert.equal(remote.error, undefined)
})

test('a live query that ends with its error is asked for again', async (t) => {
  const { server, remote, until } = fixture(t)
  const answer = await server.accept()
  answer.send('event: failed\ndata: {"code":"SQLITE_ERROR"}\n\n')
  await until('error')
  answer.end()
  const second = await server.accept()
  assert.equal(remote.state, 'error')
  second.full(1, [A])
  await until('live')
})

const refusals: Record<string, [number, Record<string, string>, string]> = {
  'with the status 404': [404, {}, 'HTTP_404'],
  'with the status 204': [204, {}, 'HTTP_204'],
  'with another type': [200, { 'content-type': 'text/html' }, 'HTTP_TYPE'],
}
for (const [which, [status, headers, code]] of Object.entries(refusals)) {
  test(`an answer ${which} is an error, and not asked for again`, async (t) => {
    const { server, remote, next, until } = fixture(t)
    await server.refuse(status, headers)
    assert.deepEqual([await next(), await next()], [{ code }, { state: 'error' }])
    await turns()
    assert.equal(server.requests.length, 1)
    remote.reconnect()
    const answer = await server.accept()
    answer.full(1, [A])
    await until('live')
  })
}

/** The delays before further attempts, which end at once. */
function attemptDelays(t: TestContext): number[] {
  const delays: number[] = []
  const real = globalThis.setTimeout
  t.mock.method(globalThis, 'setTimeout', ((call: () => void, delay: number) => {
    if (delay !== 45_000) delays.push(delay)
    return real(call, delay === 45_000 ? delay : 0)
  }) as typeof setTimeout)
  return delays
}

// G163
test('attempts wait ever longer, and a random part of it', async (t) => {
  const delays = attemptDelays(t)
  const { server, stop } = fixture(t, { minDelay: 500, maxDelay: 4000 })
  for (let i = 0; i < 7; i++) await server.fail()
  const answer = await server.accept()
  const longest = [500, 1000, 2000, 4000, 4000, 4000, 4000]
  assert.ok(
    delays.every((delay, i) => delay >= (longest[i] as number) / 2 && delay <= (longest[i] as number)),
  )
  assert.ok(new Set(delays.slice(3)).size > 1)
  answer.full(1, [A])
  answer.end()
  await server.accept()
  assert.ok((delays[7] as number) <= 500, 'after an event it begins anew')
  stop()
})

// G163
test('attempts wait ever longer also when each connection brings an error only', async (t) => {
  const delays = attemptDelays(t)
  const { server, stop } = fixture(t, { minDelay: 500, maxDelay: 4000 })
  for (let i = 0; i < 4; i++) {
    const answer = await server.accept()
    answer.send('event: failed\ndata: {"code":"RESQLITE_LIMIT"}\n\n')
    answer.end()
  }
  await server.accept()
  for (const [i, shortest] of [250, 500, 1000, 2000].entries()) assert.ok((delays[i] as number) >= shortest)
  stop()
})

test('a connection in which nothing is heard is given up', async (t) => {
  const { server, until } = fixture(t, { timeout: 5 })
  const first = await server.accept()
  await first.left
  const second = await server.accept()
  second.full(1, [A])
  await until('live')
})

// G163
test('it leaves when nobody subscribes any more, and goes on from there for the next one', async (t) => {
  const { server, remote, value, stop } = fixture(t)
  const first = await server.accept()
  first.full(5, [A])
  const before = await value()
  stop()
  await first.left
  assert.deepEqual([remote.current, remote.state], [before, 'stale'])
  const { promise, open } = gate<readonly Pair[]>()
  const again = remote.subscribe(open)
  assert.equal(await promise, before)
  await server.accept()
  assert.equal(server.requests.at(-1)?.headers['last-event-id'], 'server.5')
  again.unsubscribe()
})

// G163
test('who unsubscribes and subscribes in one go keeps the connection', async (t) => {
  const { server, remote, value, stop } = fixture(t)
  const answer = await server.accept()
  answer.full(5, [A])
  await value()
  stop()
  const { promise, open } = gate<readonly Pair[]>()
  const { subscribe } = remote // may be passed on without its object
  const again = subscribe((rows) => rows.length === 2 && open(rows))
  await turns()
  answer.patch(5, 6, 1, [B])
  assert.deepEqual(await promise, [A, B])
  assert.equal(server.requests.length, 1)
  again()
})

test('several subscribers share a connection, and one that comes late gets the value once', async (t) => {
  const { server, remote, value } = fixture(t)
  const answer = await server.accept()
  answer.full(5, [A])
  await value()
  const told: (readonly Pair[])[] = []
  const stop = remote.subscribe((rows) => told.push(rows))
  answer.patch(5, 6, 1, [B])
  assert.deepEqual(await value(), [A, B])
  assert.deepEqual(told, [[A], [A, B]])
  assert.equal(server.requests.length, 1)
  stop()
})

test('a callback that throws does not affect the others', async (t) => {
  const thrown: unknown[] = []
  const real = globalThis.queueMicrotask
  t.mock.method(globalThis, 'queueMicrotask', (task: () => void) =>
    real(() => {
      try {
        task()
      } catch (error) {
        thrown.push(error)
      }
    }),
  )
  const { server, remote, value } = fixture(t)
  const wrong = new Error('mine')
  const stop = remote.subscribe(() => {
    throw wrong
  })
  const { promise, open } = gate<readonly Pair[]>()
  const other = remote.subscribe(open)
  const answer = await server.accept()
  answer.full(5, [A])
  assert.deepEqual([await value(), await promise], [[A], [A]])
  await turns()
  assert.deepEqual(thrown, [wrong])
  stop()
  other()
})

test('headers and credentials are sent, and headers may be made for each request', async (t) => {
  let token = 0
  const headers = async () => ({ authorization: `Bearer ${++token}` })
  const { server } = fixture(t, { headers, credentials: 'include' })
  const first = await server.accept()
  first.end()
  await server.accept()
  assert.deepEqual(server.requests, [
    {
      url: '/pairs',
      headers: { authorization: 'Bearer 1', accept: 'text/event-stream' },
      credentials: 'include',
    },
    {
      url: '/pairs',
      headers: { authorization: 'Bearer 2', accept: 'text/event-stream' },
      credentials: 'include',
    },
  ])
})

test('parse reads the JSON, for example for large integers', async (t) => {
  const parse = (json: string) =>
    JSON.parse(json, (name, value) => (name === 'v' ? BigInt(value as string) : value))
  const { server, remote, value } = fixture(t, { parse })
  const answer = await server.accept()
  answer.full(5, [{ id: 1, v: '9007199254740993' }])
  const before = await value()
  assert.deepEqual(before, [{ id: 1, v: 9007199254740993n }])
  answer.full(6, [{ id: 1, v: '9007199254740993' }])
  await turns()
  assert.equal(remote.current, before)
})

// G163
test('wrong options are refused by name', () => {
  const refused = (options: object, message: RegExp) =>
    assert.throws(() => remoteQuery('/pairs', options), { name: 'TypeError', message })
  refused({ timout: 5 }, /^remoteQuery: unknown option "timout"; known options are .*timeout/)
  for (const name of ['timeout', 'minDelay', 'maxDelay']) {
    const expected = new RegExp(`^remoteQuery: option ${name} must be a positive number of milliseconds`)
    for (const wrong of [Infinity, 2 ** 31, 0, Number.NaN, '5', null]) refused({ [name]: wrong }, expected)
  }
})
