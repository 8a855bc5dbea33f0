import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { AbortError } from '../src/core/errors'
import { KNOWN_TEXTS, STREAM_QUERIES } from '../src/core/limits'
import type { Emission, LiveQuery, Patch } from '../src/core/live-types'
import type { Row } from '../src/core/types'
import { Op } from '../src/wire/protocol'
import { gate, withCode } from './support/errors'
import { arrived, type FakeStream, openFakeStreams } from './support/fake-streams'

/** The numbers of a result. */
const numbers = (rows: Row[]) => rows.map(({ n }) => n)

/** Records the calls of callbacks, in order. */
function listen(live: LiveQuery<Row[]>) {
  const log: unknown[] = []
  const infos: Emission[] = []
  const stop = live.subscribe(
    (rows, info) => {
      log.push(numbers(rows))
      infos.push(info)
    },
    (error) => log.push(error.message),
  )
  return { log, infos, stop }
}

/** Returns the uncaught exceptions while `action` runs. */
async function uncaught(action: () => Promise<void>): Promise<unknown[]> {
  const errors: unknown[] = []
  const others = process.rawListeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (error) => errors.push(error))
  try {
    await action()
    await arrived()
  } finally {
    process.removeAllListeners('uncaughtException')
    for (const other of others) process.on('uncaughtException', other as () => void)
  }
  return errors
}

// G122
test('nothing runs until it is used', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  live[Symbol.asyncIterator]()
  live.patches({ key: 'n' })
  await arrived()
  assert.equal(native.opened.length, 0)
  live.subscribe(() => {})
  await arrived()
  assert.equal(native.opened.length, 1)
})

test('the request contains the queries, parameters and options as they were at the call', async () => {
  const { db, native } = await openFakeStreams({ integers: 'bigint' })
  const params = { a: 'x', b: 2 }
  const live = db.stream(
    { one: { sql: 'SELECT 1' }, two: { sql: 'SELECT :a, :b', params } },
    { verify: 0.25 },
  )
  params.a = 'changed'
  live.subscribe(() => {})
  await arrived()
  const { target, flags, verify, queries } = native.last
  assert.deepEqual({ target, flags, verify }, { target: 5, flags: 2, verify: 0.25 })
  assert.deepEqual(queries, [
    { sql: 'SELECT 1', params: [] },
    {
      sql: 'SELECT :a, :b',
      params: [
        { name: 'a', tag: 'TEXT', value: 'x' },
        { name: 'b', tag: 'INT32', value: 2 },
      ],
    },
  ])
})

test('the native side knows all texts of a stream, also when it has to forget others for them', async () => {
  const { db, native } = await openFakeStreams()
  for (let i = 0; i < KNOWN_TEXTS - 1; i++) db.stream(`SELECT ${i}`).subscribe(() => {})
  db.stream({ a: { sql: 'SELECT 0' }, b: { sql: 'SELECT a' }, c: { sql: 'SELECT b' } }).subscribe(() => {})
  await arrived()
  assert.deepEqual(
    native.last.queries.map(({ sql }) => sql),
    ['SELECT 0', 'SELECT a', 'SELECT b'],
  )
})

test('a subscriber gets every emission, with its information', async () => {
  const { db, native } = await openFakeStreams()
  const { log, infos } = listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1, 2, 3], 5)
  native.last.patch([9], [0, 1, -1, 1, 2, 1]).emit(6, 5)
  native.last.patch([], [2, 1, 0, 2]).emit(8, 4)
  await arrived()
  assert.deepEqual(log, [
    [1, 2, 3],
    [1, 9, 3],
    [3, 1, 9],
  ])
  assert.deepEqual(infos, [
    { commit: 5, reason: 'first', micros: 10 },
    { commit: 6, reason: 'rows', micros: 10 },
    { commit: 8, reason: 'columns', micros: 10 },
  ])
})

test('an empty result is a value', async () => {
  const { db, native } = await openFakeStreams()
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  native.last.patch([], []).emit(1)
  await arrived()
  assert.deepEqual(log, [[]])
})

// G109
test('rows that did not change are the same objects, in a new array', async () => {
  const { db, native } = await openFakeStreams()
  const values: Row[][] = []
  db.stream('SELECT n').subscribe((rows) => values.push(rows))
  await arrived()
  native.last.result([1, 2, 3], 1)
  native.last.patch([9], [0, 1, -1, 1, 2, 1]).emit(2)
  await arrived()
  const [first, second] = values as [Row[], Row[]]
  assert.notEqual(first, second)
  assert.deepEqual(numbers(first), [1, 2, 3])
  assert.equal(first[0], second[0])
  assert.equal(first[2], second[2])
})

// G109
test('a subscriber that modifies its array affects no other', async () => {
  const { db, native } = await openFakeStreams()
  db.stream('SELECT n').subscribe((rows) => rows.reverse().pop())
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  assert.equal(native.opened.length, 1)
  native.last.result([1, 2, 3], 1)
  native.last.patch([4], [0, 3, -1, 1]).emit(2)
  await arrived()
  assert.deepEqual(log, [
    [1, 2, 3],
    [1, 2, 3, 4],
  ])
})

test('a value is not seen before its emission is complete', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  live.subscribe(() => {})
  await arrived()
  native.last.patch([1], [-1, 1])
  await arrived()
  assert.equal(live.current, undefined)
  native.last.emit(1)
  await arrived()
  assert.deepEqual(live.current, [{ n: 1 }])
  native.last.patch([2], [-1, 1])
  await arrived()
  assert.deepEqual(live.current, [{ n: 1 }])
})

// G122
test('the same queries, parameters and options share one stream; others do not', async () => {
  const { db, native } = await openFakeStreams()
  const use = (live: LiveQuery<unknown>) => live.subscribe(() => {})
  use(db.stream('SELECT n', [1]))
  use(db.stream('SELECT n', [1], { verify: 0 }))
  use(db.stream('SELECT n', [1], { signal: new AbortController().signal }))
  await arrived()
  assert.equal(native.opened.length, 1)
  use(db.stream('SELECT n', [2]))
  use(db.stream('SELECT n', ['1']))
  use(db.stream('SELECT n', { a: 1 }))
  use(db.stream('SELECT m', [1]))
  use(db.stream('SELECT n', [1], { arrays: true }))
  use(db.stream('SELECT n', [1], { verify: 0.5 }))
  use(db.stream({ a: { sql: 'SELECT n', params: [1] } }))
  use(db.stream({ b: { sql: 'SELECT n', params: [1] } }))
  await arrived()
  assert.equal(native.opened.length, 9)
})

test('who joins late is told the value there is, in a microtask', async () => {
  const { db, native } = await openFakeStreams()
  listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1, 2], 5)
  await arrived()
  const { log, infos } = listen(db.stream('SELECT n'))
  assert.deepEqual(log, [])
  await Promise.resolve()
  assert.deepEqual(log, [[1, 2]])
  assert.equal(infos[0]?.commit, 5)
  native.last.patch([3], [-1, 1]).emit(6)
  await arrived()
  assert.deepEqual(log, [[1, 2], [3]])
})

test('who joins late waits until the value shows what is committed', async () => {
  const { db, native } = await openFakeStreams()
  const first = listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1], 5)
  await arrived()
  native.port.isCaughtUp = false
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  native.last.patch([2], [-1, 1]).emit(6)
  await arrived()
  assert.deepEqual(log, [])
  assert.deepEqual(first.log, [[1], [2]])
  native.port.isCaughtUp = true
  native.last.patch([3], [-1, 1]).emit(7)
  await arrived()
  assert.deepEqual(log, [[3]])
  native.last.patch([4], [-1, 1]).emit(8)
  await arrived()
  assert.deepEqual(log, [[3], [4]])
})

// G105
test('an emission that has not arrived is not taken for that which shows what is committed', async () => {
  const { db, native } = await openFakeStreams()
  listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1], 5)
  await arrived()
  native.last.patch([2], [-1, 1]).emit(6)
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  assert.deepEqual(log, [[2]])
})

// G123
test('a late subscriber that stops before that microtask gets nothing', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  listen(live)
  await arrived()
  native.last.result([1], 1)
  await arrived()
  const { log, stop } = listen(live)
  stop()
  await arrived()
  assert.deepEqual(log, [])
})

test('a subscriber that joins from a callback gets each value once', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  const late: unknown[] = []
  let joined = false
  live.subscribe(() => {
    if (!joined) live.subscribe((rows) => late.push(numbers(rows)))
    joined = true
  })
  await arrived()
  const clock = mock.method(performance, 'now', () => 0) // both emissions are handled in one turn, however slow
  native.last.result([1], 1)
  native.last.patch([2], [-1, 1]).emit(2)
  await arrived()
  clock.mock.restore()
  assert.deepEqual(late, [[2]], 'the second emission came before the microtask')
})

test('the native live query ends with its last subscriber, once', async () => {
  const { db, native } = await openFakeStreams()
  const one = listen(db.stream('SELECT n'))
  const two = listen(db.stream('SELECT n'))
  await arrived()
  one.stop()
  await arrived()
  assert.deepEqual(native.ended, [])
  two.stop()
  two.stop()
  one.stop()
  await arrived()
  assert.deepEqual(native.ended, [native.last.request])
})

// G122
test('after the last one out, the next one begins anew', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  const first = listen(live)
  await arrived()
  native.last.result([1], 1)
  await arrived()
  first.stop()
  assert.equal(live.current, undefined)
  const second = listen(live)
  await arrived()
  assert.equal(native.opened.length, 2)
  native.last.result([2], 2)
  await arrived()
  assert.deepEqual(first.log, [[1]])
  assert.deepEqual(second.log, [[2]])
})

// G123
test('frames that arrive after the end of a live query are ignored', async () => {
  const { db, native } = await openFakeStreams()
  const { log, stop } = listen(db.stream('SELECT n'))
  await arrived()
  const { last } = native
  last.result([1], 1)
  stop()
  await arrived()
  assert.deepEqual(log, [])
  assert.deepEqual(native.ended, [last.request])
})

test('a callback may stop itself and others', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  const log: string[] = []
  const stopFirst = live.subscribe(() => {
    log.push('first')
    stopFirst()
    stopSecond()
  })
  const stopSecond = live.subscribe(() => log.push('second'))
  live.subscribe(() => log.push('third'))
  await arrived()
  native.last.result([1], 1)
  native.last.emit(2)
  await arrived()
  assert.deepEqual(log, ['first', 'third', 'third'])
})

test('unsubscribe works as a disposable', async () => {
  const { db, native } = await openFakeStreams()
  const stop = db.stream('SELECT n').subscribe(() => {})
  await arrived()
  stop[Symbol.dispose]()
  await arrived()
  assert.deepEqual(native.ended, [native.last.request])
})

// G124
test('a callback that throws affects no other, and its error is uncaught', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  const error = new Error('mine')
  live.subscribe(() => {
    throw error
  })
  const { log } = listen(live)
  const errors = await uncaught(async () => {
    await arrived()
    native.last.result([1], 1)
    native.last.patch([2], [-1, 1]).emit(2)
    await arrived()
  })
  assert.deepEqual(errors, [error, error])
  assert.deepEqual(log, [[1], [2]])
})

test('an error reaches the subscriber, and the stream lives on', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  const { log } = listen(live)
  await arrived()
  native.last.result([1], 1)
  native.last.fail('no such table: t')
  await arrived()
  assert.deepEqual(live.current, [{ n: 1 }])
  native.last.emit(3)
  native.last.patch([], []).emit(4)
  await arrived()
  assert.deepEqual(log, [[1], 'no such table: t', [1], []])
})

// G121
test('rows and patches of a run without a result are discarded, and nobody hears of it', async () => {
  const { db, native } = await openFakeStreams()
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1, 2], 1)
  native.last.patch([7], [-1, 1])
  native.port.rows(native.last.request, 0, Buffer.alloc(64), 0)
  native.last.discard()
  native.last.patch([3], [0, 2, -1, 1]).emit(2)
  await arrived()
  assert.deepEqual(log, [
    [1, 2],
    [1, 2, 3],
  ])
})

test('a subscriber that joins after a failure gets the last value and the error', async () => {
  const { db, native } = await openFakeStreams()
  listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1], 1)
  native.last.fail('broken')
  await arrived()
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  assert.deepEqual(log, [[1], 'broken'])
})

// G124
test('an error without an error callback is uncaught', async () => {
  const { db, native } = await openFakeStreams()
  db.stream('SELECT n').subscribe(() => {})
  const errors = await uncaught(async () => {
    await arrived()
    native.last.fail('broken', true)
    await arrived()
  })
  assert.deepEqual(
    errors.map((error) => (error as Error).message),
    ['broken'],
  )
})

// G126
test('a query that never worked ends with its error, and can be tried again', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  const { log, stop } = listen(live)
  await arrived()
  native.last.fail('no such column: n', true)
  await arrived()
  stop()
  assert.deepEqual(log, ['no such column: n'])
  assert.deepEqual(native.ended, [])
  const again = listen(live)
  await arrived()
  assert.equal(native.opened.length, 2)
  native.last.result([1], 1)
  await arrived()
  assert.deepEqual(again.log, [[1]])
})

test('the error names the statement and the place in it', async () => {
  const { db, native } = await openFakeStreams()
  const errors: unknown[] = []
  db.stream("SELECT 'é' FRM t").subscribe(
    () => {},
    (error) => errors.push(error),
  )
  await arrived()
  const report = { kind: 'sqlite', code: 'SQLITE_ERROR', message: 'near "FRM"', offset: 12 }
  native.port.error(native.last.request, report)
  await arrived()
  const [error] = errors as [{ sql: string; offset: number; code: string }]
  assert.deepEqual([error.sql, error.offset, error.code], ["SELECT 'é' FRM t", 11, 'SQLITE_ERROR'])
})

test('a live query that the native side drops ends with an error', async () => {
  const { db, native } = await openFakeStreams()
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  native.port.ok(native.last.request)
  await arrived()
  assert.deepEqual(log, ['The native side ended the live query without an error'])
})

test('a live query whose rows cannot be decoded ends with an error', async () => {
  const { db, native } = await openFakeStreams()
  const { log } = listen(db.stream('SELECT n'))
  await arrived()
  native.port.rows(native.last.request, 99, Buffer.alloc(64), 0)
  await arrived()
  assert.deepEqual(log, ['resqlite: rows of an unknown column layout 99'])
  assert.deepEqual(native.ended, [native.last.request])
})

test('closing the database ends everything: error callbacks are called, and iterators reject', async () => {
  const { db, native } = await openFakeStreams()
  const quiet = db.stream('SELECT n')
  quiet.subscribe(() => {})
  const { log } = listen(db.stream('SELECT n'))
  const iterator = db.stream('SELECT m')[Symbol.asyncIterator]()
  const next = iterator.next()
  await arrived()
  const errors = await uncaught(async () => {
    const closing = db.close()
    await assert.rejects(next, withCode('RESQLITE_CLOSED', 'fake.db'))
    await closing
  })
  assert.deepEqual(errors, [], 'it is no error for who did not ask for errors')
  assert.deepEqual(log, ['The database "fake.db" is closed'])
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  assert.equal(native.ended.length, 2)
  assert.equal(quiet.current, undefined)
  assert.throws(() => quiet.subscribe(() => {}), withCode('RESQLITE_CLOSED'))
  await assert.rejects(quiet[Symbol.asyncIterator]().next(), withCode('RESQLITE_CLOSED'))
  assert.throws(() => db.stream('SELECT n'), withCode('RESQLITE_CLOSED'))
})

// G79
test('closing the database rolls a transaction back before very many live queries end', async () => {
  const { db } = await openFakeStreams()
  const many = 100
  let told = 0
  for (let i = 0; i < many; i++) db.stream(`SELECT ${i}`).subscribe(assert.fail, () => told++)
  const { promise: inside, open: enter } = gate()
  const hanging = db.transaction(() => {
    enter()
    return new Promise(() => {})
  })
  await inside
  let clock = 0
  const now = mock.method(performance, 'now', () => (clock += 4)) // one live query ends in each turn of the event loop
  let toldBefore = many
  const rejected = assert.rejects(hanging, withCode('RESQLITE_CLOSED')).then(() => {
    toldBefore = told
  })
  await Promise.all([rejected, db.close()])
  now.mock.restore()
  assert.equal(told, many)
  assert.ok(toldBefore < many / 2, `${toldBefore} had ended`)
})

test('a callback that subscribes again at the end does not keep the ended live query open', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  live.subscribe(
    () => {},
    () => live.subscribe(() => {})(),
  )
  const { log } = listen(live)
  await arrived()
  native.last.fail('broken', true)
  await arrived()
  assert.deepEqual(log, ['broken'])
  assert.equal(native.opened.length - 1, native.ended.length)
  assert.equal(live.current, undefined)
})

// G122
test('a callback that subscribes again at the end begins anew, and the others are told of the end', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream<Row>('SELECT n')
  const again: unknown[] = []
  live.subscribe(
    () => {},
    () => {
      again.push(live.current)
      live.subscribe((rows) => again.push(numbers(rows)))
    },
  )
  const { log, stop } = listen(live)
  await arrived()
  native.last.result([1], 1)
  await arrived()
  native.last.fail('broken', true)
  await arrived()
  assert.deepEqual(log, [[1], 'broken'])
  stop()
  native.last.result([2], 2)
  await arrived()
  assert.deepEqual(again, [undefined, [2]])
  assert.equal(native.opened.length, 2)
})

test('an iterator returns every result to a fast consumer', async () => {
  const { db, native } = await openFakeStreams()
  const iterator = db.stream('SELECT n')[Symbol.asyncIterator]()
  const next = async () => numbers((await iterator.next()).value)
  const first = next()
  await arrived()
  native.last.result([1], 1)
  assert.deepEqual(await first, [1])
  const second = next()
  native.last.patch([2], [-1, 1]).emit(2)
  assert.deepEqual(await second, [2])
})

test('a slow consumer gets the latest result only', async () => {
  const { db, native } = await openFakeStreams()
  const iterator = db.stream('SELECT n')[Symbol.asyncIterator]()
  const first = iterator.next()
  await arrived()
  for (let i = 0; i < 10; i++) native.last.patch([i], [-1, 1]).emit(i)
  await first
  await arrived()
  assert.deepEqual((await iterator.next()).value, [{ n: 9 }])
  const waiting = iterator.next()
  native.last.patch([10], [-1, 1]).emit(10)
  assert.deepEqual((await waiting).value, [{ n: 10 }])
})

test('waiting calls of next are settled in order, by one emission each', async () => {
  const { db, native } = await openFakeStreams()
  const iterator = db.stream('SELECT n')[Symbol.asyncIterator]()
  const calls = [iterator.next(), iterator.next(), iterator.next()]
  await arrived()
  for (let i = 0; i < 2; i++) native.last.patch([i], [-1, 1]).emit(i)
  assert.deepEqual((await calls[0])?.value, [{ n: 0 }])
  assert.deepEqual((await calls[1])?.value, [{ n: 1 }])
  await iterator.return?.()
  assert.deepEqual(await calls[2], { value: undefined, done: true })
})

test('leaving a loop ends it', async () => {
  const { db, native } = await openFakeStreams()
  const seen: unknown[] = []
  const loop = (async () => {
    for await (const rows of db.stream('SELECT n')) {
      seen.push(numbers(rows))
      break
    }
  })()
  await arrived()
  native.last.result([1], 1)
  await loop
  assert.deepEqual(seen, [[1]])
  await arrived()
  assert.deepEqual(native.ended, [native.last.request])
})

test('return before the first next opens nothing', async () => {
  const { db, native } = await openFakeStreams()
  const iterator = db.stream('SELECT n')[Symbol.asyncIterator]()
  assert.deepEqual(await iterator.return?.(), { value: undefined, done: true })
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  assert.equal(native.opened.length, 0)
})

test('throw ends an iterator and rejects with the error', async () => {
  const { db, native } = await openFakeStreams()
  const iterator = db.stream('SELECT n')[Symbol.asyncIterator]()
  const first = iterator.next()
  await arrived()
  await assert.rejects(iterator.throw?.(new Error('mine')) as Promise<unknown>, /mine/)
  assert.deepEqual(await first, { value: undefined, done: true })
  await arrived()
  assert.deepEqual(native.ended, [native.last.request])
})

test('an error rejects once, and then the iterator is over', async () => {
  const { db, native } = await openFakeStreams()
  const iterator = db.stream('SELECT n')[Symbol.asyncIterator]()
  const [first, second] = [iterator.next(), iterator.next()]
  await arrived()
  native.last.fail('broken')
  await assert.rejects(first, /broken/)
  assert.deepEqual(await second, { value: undefined, done: true })
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  await arrived()
  assert.deepEqual(native.ended, [native.last.request])
})

test('an error that is over before next is called is not reported', async () => {
  const { db, native } = await openFakeStreams()
  const iterator = db.stream('SELECT n')[Symbol.asyncIterator]()
  const first = iterator.next()
  await arrived()
  native.last.result([1], 1)
  await first
  native.last.fail('broken')
  native.last.patch([2], [-1, 1]).emit(2)
  await arrived()
  assert.deepEqual((await iterator.next()).value, [{ n: 2 }])
})

// G130
test('a signal ends iterators with an AbortError and callbacks silently', async () => {
  const { db, native } = await openFakeStreams()
  const controller = new AbortController()
  const live = db.stream('SELECT n', [], { signal: controller.signal })
  const { log } = listen(live)
  const [waiting, idle] = [live[Symbol.asyncIterator](), live.patches({ key: 'n' })]
  const first = idle.next()
  await arrived()
  native.last.result([1], 1)
  await first
  await waiting.next()
  const next = waiting.next()
  controller.abort('enough')
  const isAbort = (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough'
  await assert.rejects(next, isAbort)
  await assert.rejects(idle.next(), isAbort)
  assert.deepEqual(await idle.next(), { value: undefined, done: true })
  assert.deepEqual(log, [[1]])
  await arrived()
  assert.deepEqual(native.ended, [native.last.request])
})

test('a signal that has fired before opens nothing', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n', [], { signal: AbortSignal.abort() })
  live.subscribe(() => assert.fail('must not be called'))()
  await assert.rejects(live[Symbol.asyncIterator]().next(), withCode('RESQLITE_ABORTED'))
  await arrived()
  assert.equal(native.opened.length, 0)
})

// G130
test('a signal ends its own live query and none that shares the native one', async () => {
  const { db, native } = await openFakeStreams()
  const controller = new AbortController()
  const mine = listen(db.stream('SELECT n', [], { signal: controller.signal }))
  const others = listen(db.stream('SELECT n'))
  await arrived()
  controller.abort()
  native.last.result([1], 1)
  await arrived()
  assert.deepEqual([mine.log, others.log], [[], [[1]]])
})

test('changes returns what changed from one patch to the next', async () => {
  const { db, native } = await openFakeStreams()
  const changes = db.stream('SELECT n').patches({ key: 'n' })
  const first = changes.next()
  await arrived()
  native.last.result([1, 2], 4)
  const { rows, added, initial, commit, since, version } = (await first).value
  assert.deepEqual([numbers(rows), added.length, initial, commit, since], [[1, 2], 2, true, 4, 0])
  const second = changes.next()
  native.last.patch([3], [1, 1, -1, 1]).emit(5)
  assert.deepEqual((await second).value, {
    initial: false,
    rows: [{ n: 2 }, { n: 3 }],
    added: [{ index: 1, row: { n: 3 } }],
    removed: [{ index: 0, row: { n: 1 } }],
    updated: [],
    moved: [],
    commit: 5,
    since: version,
    version: version + 1,
  })
})

test('patches that were not consumed become one', async () => {
  const { db, native } = await openFakeStreams()
  const changes = db.stream('SELECT n').patches({ key: 'n' })
  const first = changes.next()
  await arrived()
  native.last.result([1, 2, 3], 1)
  await first
  native.last.patch([4], [0, 3, -1, 1]).emit(2)
  native.last.patch([5], [1, 3, -1, 1]).emit(3)
  native.last.patch([], [3, 1, 0, 2]).emit(4)
  await arrived()
  const { value } = (await changes.next()) as { value: Patch }
  assert.deepEqual(numbers(value.rows), [5, 2, 3])
  assert.deepEqual(value.added, [{ index: 0, row: { n: 5 } }])
  assert.deepEqual(value.removed, [{ index: 0, row: { n: 1 } }])
  assert.deepEqual([value.updated, value.moved, value.commit], [[], [], 4])
})

test('changes that were undone before next was called are not reported', async () => {
  const { db, native } = await openFakeStreams()
  const changes = db.stream('SELECT n').patches({ key: 'n' })
  const first = changes.next()
  await arrived()
  native.last.result([1, 2], 1)
  await first
  native.last.patch([], [1, 1, 0, 1]).emit(2)
  native.last.patch([], [1, 1, 0, 1]).emit(3)
  await arrived()
  const next = changes.next()
  native.last.emit(4)
  native.last.patch([], [0, 1]).emit(5)
  const { value } = (await next) as { value: Patch }
  assert.deepEqual([value.removed, value.commit], [[{ index: 1, row: { n: 2 } }], 5])
})

test('changes of a live query in use begin with the present rows', async () => {
  const { db, native } = await openFakeStreams()
  listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1, 2], 1)
  await arrived()
  const changes = db.stream('SELECT n').patches({ key: 'n' })
  const { value } = await changes.next()
  assert.deepEqual([value.initial, numbers(value.rows)], [true, [1, 2]])
  native.last.patch([], [1, 1]).emit(2)
  assert.deepEqual((await changes.next()).value.removed, [{ index: 0, row: { n: 1 } }])
})

test('a key that is not unique ends changes with an error', async () => {
  const { db, native } = await openFakeStreams()
  const changes = db.stream('SELECT n').patches({ key: 'n' })
  const [first, second] = [changes.next(), changes.next()]
  await arrived()
  native.last.result([1, 1], 1)
  await assert.rejects(first, withCode('RESQLITE_KEY', 'n = 1'))
  assert.deepEqual(await second, { value: undefined, done: true })
  await arrived()
  assert.deepEqual(native.ended, [native.last.request])
})

test('several queries give one value per emission, and a part that did not change keeps its array', async () => {
  const { db, native } = await openFakeStreams()
  const values: { a: Row[]; b: Row[] }[] = []
  const live = db.stream({ a: { sql: 'SELECT n' }, b: { sql: 'SELECT n', params: [1] } })
  live.subscribe((value) => values.push(value))
  await arrived()
  native.last.patch([1], [-1, 1], 0).patch([], [], 1).emit(1)
  native.last.patch([2], [-1, 1], 1).emit(2)
  await arrived()
  assert.deepEqual(values, [
    { a: [{ n: 1 }], b: [] },
    { a: [{ n: 1 }], b: [{ n: 2 }] },
  ])
  assert.equal(values[0]?.a, values[1]?.a)
  assert.notEqual(values[0], values[1])
  assert.equal(live.current, values[1])
})

test('rows are arrays with the option arrays', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n', [], { arrays: true })
  live.subscribe(() => {})
  await arrived()
  native.last.result([1, 2], 1)
  await arrived()
  assert.deepEqual(live.current, [[1], [2]])
})

// G134
test('the counters are zero before, current during and last known after the use', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  assert.equal(live.stats.reruns, 0)
  const { stop } = listen(live)
  assert.equal(live.stats.reruns, 0)
  await arrived()
  native.last.result([1], 1)
  await arrived()
  const told = { ...live.stats, reruns: 3 }
  native.port.stats.set(native.last.request, told)
  assert.deepEqual(live.stats, told)
  native.port.stats.set(native.last.request, { ...told, reruns: 5 })
  stop()
  assert.equal(live.stats.reruns, 5)
  await arrived()
  assert.equal(live.stats.reruns, 5)
})

test('the counters are known after an error that ends the stream', async () => {
  const { db, native } = await openFakeStreams()
  const live = db.stream('SELECT n')
  const { log } = listen(live)
  await arrived()
  native.port.stats.set(native.last.request, { ...live.stats, errors: 1 })
  native.last.fail('broken', true)
  await arrived()
  assert.deepEqual(log, ['broken'])
  assert.equal(live.stats.errors, 1)
})

test('a new live query does not show the counters of the one whose slot it got', async () => {
  const { db, native } = await openFakeStreams()
  const [ending, other] = [db.stream('SELECT n'), db.stream('SELECT n + 1')]
  listen(ending)
  let next: typeof other | undefined
  let shown: number | undefined
  other.subscribe(() => {
    next = db.stream('SELECT n + 2')
    next.subscribe(() => {})
    shown = next.stats.errors
  })
  await arrived()
  const [first, second] = native.opened as [FakeStream, FakeStream]
  native.port.stats.set(first.request, { ...ending.stats, errors: 1 })
  first.fail('broken', true)
  second.result([1], 1) // handled in the same turn, when the slot of the first is free
  await arrived()
  assert.equal(native.last.request, first.request)
  assert.equal(shown, 0)
})

test('callbacks do not join a transaction: their calls run on their own', async () => {
  const { db, native } = await openFakeStreams()
  listen(db.stream('SELECT n'))
  await arrived()
  native.last.result([1], 1)
  await arrived()
  const ops: number[] = []
  const { onFrame } = native.port
  native.port.onFrame = (frame) => {
    if (frame.op === Op.EXEC) ops.push(frame.flags & 16)
    onFrame(frame)
  }
  await db.transaction(async (tx) => {
    await new Promise<void>((resolve) => {
      db.stream('SELECT n').subscribe(() => resolve(db.exec('SELECT 1')))
    })
    await tx.exec('SELECT 2')
  })
  assert.deepEqual(ops, [0, 16])
})

// G131
test('arguments are checked by name', async () => {
  const { db } = await openFakeStreams()
  const refused = (...parts: string[]) => withCode('RESQLITE_OPTION', ...parts)
  const stream = db.stream.bind(db) as (...args: unknown[]) => LiveQuery<Row[]>
  assert.throws(() => stream(7), withCode('RESQLITE_STATEMENT', 'must be a string', '7'))
  assert.throws(() => stream([]), withCode('RESQLITE_STATEMENT', 'an array'))
  assert.throws(() => stream(null), withCode('RESQLITE_STATEMENT', 'null'))
  assert.throws(() => stream({}), refused('not 0'))
  const many = Array.from({ length: STREAM_QUERIES + 1 }, (_, i) => [`q${i}`, { sql: '' }])
  assert.throws(() => stream(Object.fromEntries(many)), refused(`not ${STREAM_QUERIES + 1}`))
  assert.throws(() => stream({ a: 7 }), refused('query "a"', 'not 7'))
  assert.throws(() => stream({ a: { sql: 'SELECT 1', parms: [] } }), refused('query "a"', '"parms"'))
  assert.throws(() => stream({ a: { params: [] } }), withCode('RESQLITE_STATEMENT', 'query "a"', 'sql'))
  const wrong = withCode('RESQLITE_PARAMETER', 'query "a"', 'parameter 1 is undefined')
  assert.throws(() => stream({ a: { sql: '', params: [undefined] } }), wrong)
  assert.throws(() => stream('', [undefined]), withCode('RESQLITE_PARAMETER', 'parameter 1 is undefined'))
  assert.throws(() => stream('', [], { key: 'n' }), refused('unknown option "key"'))
  assert.throws(() => stream({ a: { sql: '' } }, { verify: 2 }), refused('verify', 'from 0 to 1'))
  assert.throws(() => stream('', [], { arrays: 1 }), refused('arrays'))
  const live = stream('SELECT 1')
  assert.throws(() => live.subscribe(undefined as never), refused('subscribe', 'undefined'))
  assert.throws(() => live.subscribe(() => {}, 7 as never), refused('subscribe', '7'))
  const changes = live.patches.bind(live) as (options?: unknown) => unknown
  for (const key of [[], 7, [7], undefined]) assert.throws(() => changes({ key }), refused('key'))
  assert.throws(() => changes(), refused('key'))
  assert.throws(() => changes({ key: 'n', kee: 1 }), refused('"kee"'))
  assert.throws(() => stream('', [], { arrays: true }).patches({ key: 'n' }), refused('arrays'))
  assert.throws(() => stream({ a: { sql: '' } }).patches({ key: 'n' }), refused('several queries'))
})

test('emissions that take long are handled in several turns of the event loop', async () => {
  const { db, native } = await openFakeStreams()
  let emissions = 0
  const done = new Promise<void>((resolve) => {
    db.stream('SELECT n').subscribe(() => {
      if (++emissions === 10) resolve()
    })
  })
  await arrived()
  let clock = 0
  const now = mock.method(performance, 'now', () => (clock += 4)) // every look at the clock is 4 ms later
  for (let i = 0; i < 10; i++) native.last.emit(i)
  let turns = 0
  const count = () => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  await done
  clearImmediate(immediate)
  now.mock.restore()
  assert.ok(turns >= 8, `${turns} turns`)
})

test('explainStream asks the native side', async () => {
  const { db, native } = await openFakeStreams()
  const explanation = { precision: 'table', unknown: null, tables: [], volatile: [] }
  const { onFrame } = native.port
  native.port.onFrame = (frame) => {
    if (frame.op === Op.EXPLAIN_STREAM) native.port.json(frame.request, explanation)
    else onFrame(frame)
  }
  assert.deepEqual(await db.explainStream('SELECT ?', [1]), explanation)
  await assert.rejects(db.explainStream(7 as never), withCode('RESQLITE_STATEMENT'))
})
