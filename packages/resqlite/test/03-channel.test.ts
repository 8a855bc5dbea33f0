import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { AbortError, SqliteError } from '../src/core/errors'
import { KNOWN_TEXTS } from '../src/core/limits'
import { Database } from '../src/database'
import { Op, ReplyFlags, ReplyKind, RequestFlags } from '../src/wire/protocol'
import { type FakePort, type Frame, fakeChannel, u32s } from './support/fake-port'
import { readParams } from './support/params-reader'
import { packRowBatch } from './support/row-batches'

const INLINE = ReplyFlags.LAST
const SLAB = ReplyFlags.LAST | ReplyFlags.SLAB
const OWNED = ReplyFlags.LAST | ReplyFlags.OWNED

/** A database on a fake port that answers OPEN and CLOSE, and everything else through `answer`. */
async function openFake(
  answer: (frame: Frame, port: FakePort) => void,
): Promise<{ db: Database; port: FakePort }> {
  const { channel, port } = fakeChannel()
  port.onFrame = (frame) => {
    if (frame.op === Op.OPEN) port.json(frame.request, { handle: 9, engine: 9 })
    else if (frame.op === Op.CLOSE) port.ok(frame.request)
    else answer(frame, port)
  }
  const db = await Database.openOn(channel, 'fake.db')
  port.submits.length = 0
  return { db, port }
}

function oneInteger(frame: Frame, port: FakePort): void {
  if (frame.op === Op.DEFINE) port.layout(frame.target, ['n'])
  if (frame.op !== Op.SELECT) return
  const n = readParams(frame.payload, 4).params[0]?.value as number
  port.rows(frame.request, frame.payload.readUInt32LE(0), packRowBatch([{ kind: 'INT32', values: [n] }]))
}

/** Replies to writes with the number of parameter sets. */
class FakeWriter {
  readonly sets: unknown[][] = []
  aborted = 0

  answer(frame: Frame, port: FakePort): void {
    if (frame.op === Op.BATCH_ABORT) {
      this.aborted++
      port.error(frame.target, { kind: 'resqlite', code: 'RESQLITE_ABORTED', message: 'aborted' })
    }
    if (frame.op !== Op.BATCH && frame.op !== Op.CHUNK) return
    let at = 16
    const texts = { text: frame.payload.toString('utf8', at + frame.payload.readUInt32LE(8)), at: 0 }
    for (let i = frame.payload.readUInt32LE(4); i > 0; i--) {
      const { params, end } = readParams(frame.payload, at, texts)
      this.sets.push(params.map((param) => param.value))
      at = end
    }
    const request = frame.op === Op.BATCH ? frame.request : frame.target
    if ((frame.flags & RequestFlags.MORE) === 0) port.written(request, this.sets.length, 1n, 5)
  }
}

test('all requests of one tick are handed over in one call, and a text is defined once', async () => {
  const { db, port } = await openFake(oneInteger)
  const results = await Promise.all([1, 2, 3].map((n) => db.select('SELECT ?', [n])))
  assert.deepEqual(results, [[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
  assert.equal(port.submits.length, 1)
  const ops = port.frames.map((frame) => frame.op)
  assert.deepEqual(ops, [Op.DEFINE, Op.SELECT, Op.SELECT, Op.SELECT])
  await db.select('SELECT ?', [4])
  assert.deepEqual(
    port.submits[1]?.map((frame) => frame.op),
    [Op.SELECT],
  )
})

test('a reply slot is used again after its last frame', async () => {
  const { db, port } = await openFake(oneInteger)
  await db.select('SELECT ?', [1])
  await db.select('SELECT ?', [2])
  const slots = port.frames.filter((frame) => frame.op === Op.SELECT).map((frame) => frame.request)
  assert.equal(slots[0], slots[1])
})

test('known texts are forgotten when there are too many', async () => {
  const { db, port } = await openFake(oneInteger)
  for (let i = 0; i <= KNOWN_TEXTS; i++) await db.select(`SELECT ? -- ${i}`, [i])
  assert.equal(port.frames.filter((frame) => frame.op === Op.FORGET).length, 1)
  assert.deepEqual(await db.select('SELECT ? -- 0', [42]), [{ n: 42 }])
})

test('rows arrive inline, in slabs and in owned memory', async () => {
  const batch = (n: number) => packRowBatch([{ kind: 'INT32', values: [n] }])
  const { db, port } = await openFake((frame, port) => {
    if (frame.op !== Op.SELECT) return
    port.slabs[3] = new Uint8Array(batch(2)).buffer
    const misaligned = Buffer.concat([Buffer.alloc(1), batch(3)]).subarray(1)
    port.owned.set(8, misaligned)
    port.layout(0, ['n'])
    port.reply(ReplyKind.ROWS, frame.request, batch(1), { flags: 0 })
    port.reply(ReplyKind.ROWS, frame.request, u32s(3, batch(2).length), { flags: SLAB & ~ReplyFlags.LAST })
    port.reply(ReplyKind.ROWS, frame.request, u32s(8, batch(3).length), { flags: OWNED })
  })
  assert.deepEqual(await db.select('SELECT 1'), [{ n: 1 }, { n: 2 }, { n: 3 }])
  assert.equal(port.owned.size, 0)
})

test('bytes are copied unless they are owned', async () => {
  const text = Buffer.from('[{"a":1}]')
  const carriers = [INLINE, SLAB, OWNED]
  const { db, port } = await openFake((frame, port) => {
    if (frame.op !== Op.SELECT) return
    const flags = carriers.shift() as number
    port.slabs[0] = new Uint8Array(64).buffer
    new Uint8Array(port.slabs[0]).set(text)
    port.owned.set(0, Buffer.from(new Uint8Array(text).buffer))
    const payload = flags === INLINE ? text : u32s(0, text.length)
    port.reply(ReplyKind.BYTES, frame.request, payload, { flags, argument: text.length })
  })
  const answers = []
  for (let i = 0; i < 3; i++) answers.push(await db.selectBytes('SELECT 1'))
  port.inbox.fill(0)
  new Uint8Array(port.slabs[0] as ArrayBuffer).fill(0)
  for (const answer of answers) assert.equal(Buffer.from(answer).toString(), '[{"a":1}]')
})

// G33
test('replies that take long are handled in several turns of the event loop', async () => {
  const { db } = await openFake((frame, port) => {
    if (frame.op !== Op.SELECT) return
    port.layout(0, ['n'])
    for (let i = 0; i < 100; i++) {
      const flags = i === 99 ? ReplyFlags.LAST : 0
      port.rows(frame.request, 0, packRowBatch([{ kind: 'INT32', values: [i] }]), flags)
    }
  })
  let clock = 0
  const now = mock.method(performance, 'now', () => (clock += 4)) // every look at the clock is 4 ms later
  let turns = 0
  let running = true
  const count = () => {
    turns++
    if (running) setImmediate(count)
  }
  setImmediate(count)
  const rows = await db.select('SELECT n')
  running = false
  now.mock.restore()
  assert.equal(rows.length, 100)
  assert.ok(turns >= 6, `${turns} turns`)
})

// G75
test('an aborted read fails at once, and its late reply is ignored', async () => {
  const late: Frame[] = []
  const { db, port } = await openFake((frame, port) => {
    if (frame.op === Op.SELECT && late.length === 0) late.push(frame)
    else oneInteger(frame, port)
  })
  const controller = new AbortController()
  const read = db.select('SELECT ?', [1], { signal: controller.signal })
  await Promise.resolve()
  const reason = new Error('enough')
  controller.abort(reason)
  await assert.rejects(read, (error: AbortError) => {
    assert.ok(error instanceof AbortError)
    assert.equal(error.name, 'AbortError')
    assert.equal(error.code, 'RESQLITE_ABORTED')
    assert.equal(error.cause, reason)
    return true
  })
  assert.deepEqual(await db.select('SELECT ?', [2]), [{ n: 2 }])
  const [select] = late as [Frame]
  const cancel = port.frames.find((frame) => frame.op === Op.CANCEL)
  assert.equal(cancel?.target, select.request)
  const others = port.frames.filter((frame) => frame.op === Op.SELECT && frame !== select)
  assert.ok(others.every((frame) => frame.request !== select.request))
  port.error(select.request, { kind: 'resqlite', code: 'RESQLITE_ABORTED', message: 'aborted' })
  assert.deepEqual(await db.select('SELECT ?', [3]), [{ n: 3 }])
  assert.deepEqual(await Promise.all([4, 5].map((n) => db.select('SELECT ?', [n]))), [[{ n: 4 }], [{ n: 5 }]])
})

// G76
test('an aborted write resolves if it was too late to undo it', async () => {
  const { db } = await openFake((frame, port) => {
    if (frame.op !== Op.CANCEL) return
    port.written(frame.target, 1, 3n, 8)
  })
  const controller = new AbortController()
  const write = db.execute('INSERT INTO t VALUES (1)', [], { signal: controller.signal })
  controller.abort()
  assert.deepEqual(await write, { changes: 1, lastInsertRowid: 3, rows: [], commit: 8 })
})

test('a rowid beyond the safe integers is a bigint', async () => {
  const rowids = [2n ** 53n - 1n, 2n ** 53n, -1n, -(2n ** 63n)]
  const { db } = await openFake((frame, port) => {
    if (frame.op === Op.EXECUTE) port.written(frame.request, 1, rowids[port.submits.length - 1] as bigint, 1)
  })
  const seen: unknown[] = []
  for (const _ of rowids) seen.push((await db.execute('INSERT')).lastInsertRowid)
  assert.deepEqual(seen, [2 ** 53 - 1, 2n ** 53n, -1, -(2n ** 63n)])
})

// G26
test('the offset of an error counts in the string, not in bytes', async () => {
  const sql = "SELECT '😀é' FRM t"
  const { db } = await openFake((frame, port) => {
    if (frame.op !== Op.SELECT) return
    const offset = Buffer.byteLength(sql.slice(0, sql.indexOf('FRM')))
    port.error(frame.request, { kind: 'sqlite', code: 'SQLITE_ERROR', message: 'near "FRM"', offset })
  })
  await assert.rejects(db.select(sql), (error: SqliteError) => {
    assert.ok(error instanceof SqliteError)
    assert.equal(error.sql, sql)
    assert.equal(error.offset, sql.indexOf('FRM'))
    return true
  })
})

test('a small batch is one frame, sent with the other requests of the tick', async () => {
  const writer = new FakeWriter()
  const { db, port } = await openFake((frame, port) => {
    writer.answer(frame, port)
    oneInteger(frame, port)
  })
  const [written] = await Promise.all([
    db.executeBatch('INSERT', [[1, 'a'], { x: 2 }, [3]]),
    db.select('SELECT ?', [1]),
  ])
  assert.deepEqual(written, { changes: 3, lastInsertRowid: 1, rows: [], commit: 5 })
  assert.deepEqual(writer.sets, [[1, 'a'], [2], [3]])
  assert.equal(port.submits.length, 1)
})

test('a large batch is sent in frames, in order and complete', async () => {
  const writer = new FakeWriter()
  const { db, port } = await openFake((frame, port) => writer.answer(frame, port))
  const sets = Array.from({ length: 20_000 }, (_, i) => [i, `row ${i}`])
  const { changes } = await db.executeBatch('INSERT', sets)
  assert.equal(changes, 20_000)
  assert.deepEqual(writer.sets, sets)
  const batch = port.frames.filter((frame) => frame.op === Op.BATCH || frame.op === Op.CHUNK)
  assert.ok(batch.length > 4)
  const slot = batch[0]?.request
  batch.forEach((frame, i) => {
    assert.equal(frame.op, i === 0 ? Op.BATCH : Op.CHUNK)
    if (i > 0) assert.equal(frame.target, slot)
    assert.equal((frame.flags & RequestFlags.MORE) !== 0, i < batch.length - 1)
    assert.ok(frame.payload.length < 66_000)
  })
})

// G33
test('a batch that takes long to encode lets the event loop turn', async () => {
  const writer = new FakeWriter()
  const { db } = await openFake((frame, port) => writer.answer(frame, port))
  let clock = 0
  const now = mock.method(performance, 'now', () => (clock += 4))
  let turns = 0
  const count = () => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  await db.executeBatch(
    'INSERT',
    Array.from({ length: 20_000 }, (_, i) => [i, `row ${i}`]),
  )
  clearImmediate(immediate)
  now.mock.restore()
  assert.ok(turns >= 4, `${turns} turns`)
})

test('a wrong parameter in a small batch sends nothing', async () => {
  const { db, port } = await openFake(() => {})
  await assert.rejects(
    db.executeBatch('INSERT', [[1], [undefined as never]]),
    /set at index 1, parameter 1 is undefined/,
  )
  assert.equal(port.frames.length, 0)
})

test('a wrong parameter late in a large batch undoes all of it', async () => {
  const writer = new FakeWriter()
  const { db } = await openFake((frame, port) => writer.answer(frame, port))
  const sets: unknown[][] = Array.from({ length: 20_000 }, (_, i) => [i, `row ${i}`])
  sets[16_999] = [1, new Date()]
  await assert.rejects(db.executeBatch('INSERT', sets as never), /set at index 16999, parameter 2 is a Date/)
  assert.equal(writer.aborted, 1)
})

test('an error of the source of a large batch undoes all of it', async () => {
  const writer = new FakeWriter()
  const { db } = await openFake((frame, port) => writer.answer(frame, port))
  function* source() {
    for (let i = 0; i < 20_000; i++) yield [i, 'some text']
    throw new Error('source failed')
  }
  await assert.rejects(db.executeBatch('INSERT', source()), /source failed/)
  assert.equal(writer.aborted, 1)
})

test('the source of a batch may use the database while it is read', async () => {
  const writer = new FakeWriter()
  const { db } = await openFake((frame, port) => {
    writer.answer(frame, port)
    oneInteger(frame, port)
  })
  const reads: Promise<unknown>[] = []
  function* source() {
    for (let i = 0; i < 5_000; i++) {
      if (i % 1000 === 0) reads.push(db.select(`SELECT ? -- ${i}`, [i]))
      yield [i, 'some text that fills frames']
    }
  }
  const { changes } = await db.executeBatch('INSERT', source())
  assert.equal(changes, 5_000)
  assert.deepEqual(
    await Promise.all(reads),
    [0, 1000, 2000, 3000, 4000].map((n) => [{ n }]),
  )
})

test('a large batch that fails early stops being encoded', async () => {
  let frames = 0
  let aborts = 0
  const { db } = await openFake((frame, port) => {
    if (frame.op === Op.BATCH)
      port.error(frame.request, { kind: 'sqlite', code: 'SQLITE_FULL', message: 'full' })
    if (frame.op === Op.CHUNK) frames++
    if (frame.op === Op.BATCH_ABORT) aborts++
  })
  let clock = 0
  const now = mock.method(performance, 'now', () => (clock += 4)) // every frame ends a turn
  const sets = Array.from({ length: 100_000 }, (_, i) => [i, `row ${i}`])
  await assert.rejects(db.executeBatch('INSERT', sets), (error: SqliteError) => error.code === 'SQLITE_FULL')
  now.mock.restore()
  assert.ok(frames < 10, `${frames} frames`)
  assert.equal(aborts, 1)
})
