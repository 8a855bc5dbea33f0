import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AbortError, type ResqliteError, TransactionError } from '../src/core/errors'
import { Database } from '../src/database'
import { Op, ReplyFlags, ReplyKind, RequestFlags } from '../src/wire/protocol'
import { type FakePort, type Frame, fakeChannel } from './support/fake-port'
import { packRowBatch } from './support/row-batches'

const names = Object.fromEntries(Object.entries(Op).map(([name, op]) => [op, name]))

/** A native side that replies to everything at once and records the order. `silent` operations get no reply. */
class FakeNative {
  readonly log: string[] = []
  readonly open: Frame[] = []
  silent: string[] = []
  failing: string[] = []
  rows = [3, 3, 0]
  port!: FakePort

  answer(frame: Frame): void {
    const name = names[frame.op] as string
    if (frame.op === Op.CANCEL) this.cancel(frame)
    if (frame.op === Op.CANCEL || frame.op === Op.DEFINE) return
    this.log.push(this.describe(name, frame))
    if (this.silent.includes(name)) this.open.push(frame)
    else if (this.failing.includes(name)) {
      this.port.error(frame.request, { kind: 'sqlite', code: 'SQLITE_ERROR', message: `${name} failed` })
    } else this.succeed(frame)
  }

  describe(name: string, frame: Frame): string {
    const leveled = frame.op >= Op.SAVEPOINT && frame.op <= Op.ROLLBACK_TO
    return leveled ? `${name} ${frame.payload.readUInt32LE(0)}` : name
  }

  succeed(frame: Frame): void {
    const { port } = this
    if (frame.op === Op.OPEN) port.json(frame.request, { handle: 1, engine: 1 })
    else if (frame.op === Op.EXECUTE || frame.op === Op.COMMIT || frame.op === Op.EXEC) {
      port.written(frame.request, 1, 1n, 1)
    } else if (frame.op === Op.SELECT) port.rows(frame.request, this.layout(), this.batchOf(1))
    else if (frame.op === Op.CURSOR || frame.op === Op.FETCH) this.sendBatch(frame)
    else port.ok(frame.request)
  }

  layout(): number {
    this.port.layout(0, ['n'])
    return 0
  }

  batchOf(rows: number): Buffer {
    return packRowBatch([{ kind: 'INT32', values: Array.from({ length: rows }, (_, i) => i) }])
  }

  sendBatch(frame: Frame): void {
    const rows = this.rows.shift() as number
    const end = this.rows.length === 0 ? ReplyFlags.END : 0
    this.port.rows(frame.request, this.layout(), this.batchOf(rows), ReplyFlags.LAST | end)
  }

  cancel(frame: Frame): void {
    const index = this.open.findIndex((open) => open.request === frame.target)
    if (index === -1) return
    const [open] = this.open.splice(index, 1) as [Frame]
    this.log.push(`CANCEL ${names[open.op]}`)
    this.port.error(open.request, { kind: 'resqlite', code: 'RESQLITE_ABORTED', message: 'aborted' })
  }

  /** Replies to the operations that were silent so far. */
  release(): void {
    for (const frame of this.open.splice(0)) this.succeed(frame)
  }
}

async function openFake(): Promise<{ db: Database; native: FakeNative }> {
  const { channel, port } = fakeChannel()
  const native = new FakeNative()
  native.port = port
  port.onFrame = (frame) => native.answer(frame)
  const db = await Database.openOn(channel, 'fake.db')
  native.log.length = 0
  return { db, native }
}

const never = () => new Promise<never>(() => {})
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('a transaction begins, runs its statements in its session, and commits', async () => {
  const { db, native } = await openFake()
  const value = await db.transaction(async (tx) => {
    await tx.execute('INSERT')
    return (await tx.select('SELECT')).length
  })
  assert.equal(value, 1)
  assert.deepEqual(native.log, ['BEGIN', 'EXECUTE', 'SELECT', 'COMMIT'])
  const statements = native.port.frames.filter((frame) => frame.op === Op.EXECUTE || frame.op === Op.SELECT)
  assert.ok(statements.every((frame) => (frame.flags & RequestFlags.SESSION) !== 0))
})

test('a body that throws ends the session, and its error reaches the caller', async () => {
  const { db, native } = await openFake()
  const error = new Error('mine')
  const run = db.transaction(async () => {
    throw error
  })
  await assert.rejects(run, (caught) => caught === error)
  assert.deepEqual(native.log, ['BEGIN', 'END'])
})

test('a failed commit is undone and fails the transaction', async () => {
  const { db, native } = await openFake()
  native.failing = ['COMMIT']
  await assert.rejects(
    db.transaction(async () => {}),
    /COMMIT failed/,
  )
  assert.deepEqual(native.log, ['BEGIN', 'COMMIT', 'END'])
})

test('nested transactions are savepoints of growing level', async () => {
  const { db, native } = await openFake()
  await db.transaction(async (tx) => {
    await tx.transaction(async (inner) => {
      await inner.execute('INSERT')
      await assert.rejects(
        inner.transaction(async () => {
          throw new Error('undo me')
        }),
        /undo me/,
      )
    })
  })
  assert.deepEqual(native.log, [
    'BEGIN',
    'SAVEPOINT 1',
    'EXECUTE',
    'SAVEPOINT 2',
    'ROLLBACK_TO 2',
    'RELEASE 1',
    'COMMIT',
  ])
})

test('nested transactions of one parent run one after another', async () => {
  const { db, native } = await openFake()
  await db.transaction(async (tx) => {
    await Promise.all([1, 2].map(() => tx.transaction((inner) => inner.execute('INSERT'))))
  })
  const once = ['SAVEPOINT 1', 'EXECUTE', 'RELEASE 1']
  assert.deepEqual(native.log, ['BEGIN', ...once, ...once, 'COMMIT'])
})

test('calls that were not awaited are finished before the commit', async () => {
  const { db, native } = await openFake()
  native.silent = ['EXECUTE']
  const run = db.transaction(async (tx) => {
    void tx.execute('INSERT')
  })
  while (native.open.length === 0) await turn()
  assert.deepEqual(native.log, ['BEGIN', 'EXECUTE'])
  native.release()
  await run
  assert.deepEqual(native.log, ['BEGIN', 'EXECUTE', 'COMMIT'])
})

test('a call that was not awaited and fails rolls the transaction back', async () => {
  const { db, native } = await openFake()
  native.failing = ['EXECUTE']
  const run = db.transaction(async (tx) => {
    void tx.execute('INSERT')
  })
  await assert.rejects(run, /EXECUTE failed/)
  assert.deepEqual(native.log, ['BEGIN', 'EXECUTE', 'END'])
})

test('an abort while waiting for the write lock cancels the request', async () => {
  const { db, native } = await openFake()
  native.silent = ['BEGIN']
  const controller = new AbortController()
  const run = db.transaction(async () => assert.fail('must not run'), { signal: controller.signal })
  while (native.open.length === 0) await turn()
  controller.abort('changed my mind')
  await assert.rejects(
    run,
    (error: AbortError) => error instanceof AbortError && error.cause === 'changed my mind',
  )
  assert.deepEqual(native.log, ['BEGIN', 'CANCEL BEGIN'])
})

test('an abort during the body cancels its statement, rolls back, and does not wait for the body', async () => {
  const { db, native } = await openFake()
  native.silent = ['EXECUTE']
  const controller = new AbortController()
  const seen: unknown[] = []
  const run = db.transaction(
    async (tx) => {
      await tx.execute('INSERT').catch((error) => seen.push(error))
      await tx.execute('INSERT').catch((error) => seen.push(error))
      await never()
    },
    { signal: controller.signal },
  )
  while (native.open.length === 0) await turn()
  controller.abort('enough')
  await assert.rejects(run, (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough')
  await turn()
  assert.deepEqual(native.log, ['BEGIN', 'EXECUTE', 'CANCEL EXECUTE', 'END'])
  const [first, second] = seen as [AbortError, TransactionError]
  assert.equal(first.cause, 'enough')
  assert.ok(second instanceof TransactionError)
  assert.equal(second.code, 'RESQLITE_TRANSACTION')
  assert.equal(second.operation, 'execute')
  assert.equal((second.cause as Error).name, 'AbortError')
})

test('a timeout reported by the native side ends a transaction whose body hangs', async () => {
  const { db, native } = await openFake()
  native.silent = ['ENDED']
  const run = db.transaction(never, { timeout: 50 })
  while (native.open.length === 0) await turn()
  const begin = native.port.frames.find((frame) => frame.op === Op.BEGIN)
  assert.equal(begin?.payload.readDoubleLE(8), 50)
  native.port.error((native.open[0] as Frame).request, {
    kind: 'resqlite',
    code: 'RESQLITE_TIMEOUT',
    message: 'took too long',
  })
  await assert.rejects(run, (error: ResqliteError) => error.code === 'RESQLITE_TIMEOUT')
})

test('closing rolls open transactions back, ends iterators, and then closes', async () => {
  const { db, native } = await openFake()
  const started: string[] = []
  const open = db.transaction(async () => {
    started.push('open')
    await never()
  })
  const iterator = db.iterate('SELECT')
  await iterator.next()
  while (started.length === 0) await turn()
  native.log.length = 0
  const closed = db.close()
  assert.equal(db.close(), closed)
  assert.equal(db.open, false)
  await assert.rejects(open, (error: ResqliteError) => error.code === 'RESQLITE_CLOSED')
  await assert.rejects(iterator.next(), (error: ResqliteError) => error.code === 'RESQLITE_CLOSED')
  assert.deepEqual(await iterator.next(), { value: undefined, done: true })
  await closed
  assert.equal(native.log.at(-1), 'CLOSE')
  assert.deepEqual(native.log.filter((op) => op !== 'FETCH').sort(), ['CLOSE', 'END', 'END'])
})

// G68
test('an iterator fetches one batch ahead and no more', async () => {
  const { db, native } = await openFake()
  const iterator = db.iterate('SELECT')
  assert.deepEqual(native.log, [])
  await iterator.next()
  await turn()
  await turn()
  assert.deepEqual(native.log, ['CURSOR', 'FETCH'])
  const rest: unknown[] = []
  for await (const row of iterator) rest.push(row)
  assert.equal(rest.length, 5)
  assert.deepEqual(native.log, ['CURSOR', 'FETCH', 'FETCH'])
})

test('leaving the loop cancels what is being fetched and ends the session', async () => {
  const { db, native } = await openFake()
  native.silent = ['FETCH']
  for await (const _ of db.iterate('SELECT')) {
    await turn()
    break
  }
  assert.deepEqual(native.log, ['CURSOR', 'FETCH', 'CANCEL FETCH', 'END'])
})

test('concurrent calls of next get the rows in order', async () => {
  const { db } = await openFake()
  const iterator = db.iterate<{ n: number }>('SELECT')
  const results = await Promise.all(Array.from({ length: 8 }, () => iterator.next()))
  assert.deepEqual(
    results.map((result) => result.value?.n),
    [0, 1, 2, 0, 1, 2, undefined, undefined],
  )
})

test('replies of unexpected kinds are ignored', async () => {
  const { db, native } = await openFake()
  native.port.reply(ReplyKind.OK, 77, Buffer.alloc(0))
  assert.equal((await db.select('SELECT')).length, 1)
})
