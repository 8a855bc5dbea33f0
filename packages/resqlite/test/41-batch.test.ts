import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AbortError, type SqlParams, type SqlValue, Utf8 } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const TABLE = 'CREATE TABLE t(id INTEGER PRIMARY KEY, x)'
const INSERT = 'INSERT INTO t(id, x) VALUES (?, ?)'

/** Few of it are many frames. */
const longText = 'x'.repeat(1000)

/** Five hundred of them fill a frame. */
const manySets = (count: number) =>
  Array.from({ length: count }, (_, i) => [i, `value of row ${i}`.padEnd(120)])

test('executeBatch runs the statement once per set', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const result = await db.executeBatch(INSERT, [
    [1, 'a'],
    [2, 'b'],
  ])
  assert.equal(result.changes, 2)
  assert.equal(result.lastInsertRowid, 2)
  assert.deepEqual(await db.select('SELECT * FROM t', [], { arrays: true }), [
    [1, 'a'],
    [2, 'b'],
  ])
})

test('sets may be named, and come from any iterable', async (t) => {
  const db = await tempDatabase(t, TABLE)
  function* sets() {
    for (let id = 0; id < 3; id++) yield { id, x: id * 2 }
  }
  assert.equal((await db.executeBatch('INSERT INTO t VALUES (:id, :x)', sets())).changes, 3)
  assert.deepEqual(await db.selectOne('SELECT sum(x) AS s FROM t'), { s: 6 })
})

test('an array with an iterator of its own is asked for its sets by that', async (t) => {
  class Backwards extends Array<SqlValue[]> {
    override *[Symbol.iterator](): ArrayIterator<SqlValue[]> {
      for (let i = this.length - 1; i >= 0; i--) yield this[i] as SqlValue[]
    }
  }
  const db = await tempDatabase(t, TABLE)
  await db.executeBatch('INSERT INTO t(x) VALUES (?)', Backwards.of(['a'], ['b']))
  assert.deepEqual(await db.select('SELECT x FROM t ORDER BY id', [], { arrays: true }), [['b'], ['a']])
})

test('no sets change nothing', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.equal((await db.executeBatch(INSERT, [])).changes, 0)
})

// G41
test('a batch of many frames is complete', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const result = await db.executeBatch(INSERT, manySets(10_000))
  assert.equal(result.changes, 10_000)
  const check = 'SELECT count(*) AS n, sum(id) AS s, count(DISTINCT x) AS d FROM t'
  assert.deepEqual(await db.selectOne(check), { n: 10_000, s: (10_000 * 9_999) / 2, d: 10_000 })
})

// G41
test('if one set fails all are undone', async (t) => {
  const db = await tempDatabase(t, TABLE)
  for (const count of [3, 4000]) {
    const sets = [...manySets(count), [0, 'again']]
    await assert.rejects(db.executeBatch(INSERT, sets), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
    assert.deepEqual(await db.select('SELECT * FROM t'), [], `${count} sets`)
  }
})

test('a set that fails early stops a large batch', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(
    db.executeBatch(INSERT, [[0, ''], ...manySets(20_000)]),
    withCode('SQLITE_CONSTRAINT_PRIMARYKEY'),
  )
  assert.equal((await db.executeBatch(INSERT, manySets(10))).changes, 10)
})

// G41
test('a wrong parameter is named with its set, and nothing was written', async (t) => {
  const db = await tempDatabase(t, TABLE)
  for (const count of [17, 4000]) {
    const sets: unknown[][] = manySets(count)
    sets[count - 1] = [1, undefined]
    await assert.rejects(db.executeBatch(INSERT, sets as never), (error: Error) => {
      assert.ok(error instanceof TypeError)
      return withCode('RESQLITE_PARAMETER', `set at index ${count - 1}, parameter 2`)(error)
    })
    assert.deepEqual(await db.select('SELECT * FROM t'), [])
  }
})

test('a set with the wrong number of parameters fails the batch', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(db.executeBatch(INSERT, [[1, 2], [3]]), withCode('RESQLITE_PARAMETER'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('paramSets that are not iterable are refused', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(
    db.executeBatch(INSERT, { a: 1 } as never),
    withCode('RESQLITE_PARAMETER', 'paramSets'),
  )
  await assert.rejects(
    db.executeBatch(INSERT, [1, 2] as never),
    withCode('RESQLITE_PARAMETER', 'set at index 0, params'),
  )
})

test('other calls run while a large batch is under way', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const batch = db.executeBatch(INSERT, manySets(10_000))
  const reads = await Promise.all(
    Array.from({ length: 20 }, () => db.selectOne('SELECT count(*) AS n FROM t')),
  )
  for (const read of reads) assert.ok(read?.n === 0 || read?.n === 10_000)
  await Promise.all([
    batch,
    db.execute('INSERT INTO t VALUES (-1, 0)'),
    db.executeBatch('INSERT INTO t VALUES (?, 0)', [[-2]]),
  ])
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 10_002 })
})

// G33
test('the event loop turns while a slow iterator makes the sets of a small batch', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(x)')
  let turns = 0
  function* slow() {
    for (let set = 0; set < 40; set++) {
      const end = performance.now() + 1
      while (performance.now() < end);
      yield [turns]
    }
  }
  const counting = setInterval(() => turns++)
  await db.executeBatch('INSERT INTO t VALUES (?)', slow())
  clearInterval(counting)
  const { before, after } = (await db.selectOne('SELECT min(x) AS before, max(x) AS after FROM t')) as never
  assert.ok(before < after, 'timers ran between two sets')
  assert.equal((await db.selectOne('SELECT count(*) AS n FROM t'))?.n, 40)
})

// G41
test('sets are taken from their iterator no faster than the writer takes them up', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const transaction = await db.begin()
  let taken = 0
  function* sets() {
    for (; taken < 20_000; taken++) yield [taken, longText]
  }
  const batch = db.executeBatch(INSERT, sets())
  for (let before = -1; before !== taken; ) {
    before = taken
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(taken > 100 && taken < 10_000, `${taken} sets wait`)
  await transaction.rollback()
  assert.equal((await batch).changes, 20_000)
})

// G41
test('a batch that waits for the writer can be given up', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const transaction = await db.begin()
  const controller = new AbortController()
  let taken = 0
  function* sets() {
    for (; ; taken++) {
      if (taken === 3000) setImmediate(() => controller.abort())
      yield [taken, longText]
    }
  }
  await assert.rejects(db.executeBatch(INSERT, sets(), { signal: controller.signal }), { name: 'AbortError' })
  await transaction.rollback()
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('large batches at the same time are each complete', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(batch, i)')
  const results = await Promise.all(
    Array.from({ length: 4 }, (_, batch) =>
      db.executeBatch(
        'INSERT INTO t VALUES (?, ?)',
        Array.from({ length: 20_000 }, (_, i) => [batch, i]),
      ),
    ),
  )
  assert.ok(results.every((result) => result.changes === 20_000))
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 80_000 })
})

// G76
test('an aborted batch is undone', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const controller = new AbortController()
  function* sets() {
    for (let i = 0; i < 200_000; i++) {
      if (i === 50_000) controller.abort('enough')
      yield [i, 'some text']
    }
  }
  await assert.rejects(
    db.executeBatch(INSERT, sets(), { signal: controller.signal }),
    (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough',
  )
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('inside a transaction a failed batch leaves what was before', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async (tx) => {
    await tx.execute(INSERT, [-1, 'kept'])
    await assert.rejects(
      tx.executeBatch(INSERT, [...manySets(4000), [0, '']]),
      withCode('SQLITE_CONSTRAINT_PRIMARYKEY'),
    )
    assert.equal((await db.executeBatch(INSERT, manySets(10))).changes, 10)
  })
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 11 })
})

/** Parameter sets from a generator that counts how often it is closed. */
function watched(count: number, each: (i: number) => unknown[]) {
  const seen = { closed: 0 }
  function* sets() {
    try {
      for (let i = 0; i < count; i++) yield each(i)
    } finally {
      seen.closed++
    }
  }
  return { seen, sets: sets() as Iterable<never[]> }
}

const MANY = 5000

for (const at of [3, MANY - 3]) {
  // G42
  test(`the iterator of the sets is closed when set ${at} is refused`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    const { seen, sets } = watched(MANY, (i) => [i, i === at ? undefined : longText])
    await assert.rejects(
      db.executeBatch(INSERT, sets),
      withCode('RESQLITE_PARAMETER', `set at index ${at}, parameter 2`),
    )
    assert.equal(seen.closed, 1)
  })

  // G42
  test(`the iterator of the sets is closed when the signal fires at set ${at}`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    const controller = new AbortController()
    const { seen, sets } = watched(MANY, (i) => {
      if (i === at - 1) controller.abort()
      return [i, longText]
    })
    await assert.rejects(
      db.executeBatch(INSERT, sets, { signal: controller.signal }),
      withCode('RESQLITE_ABORTED'),
    )
    assert.equal(seen.closed, 1)
  })
}

// G42
test('the iterator of the sets is closed when the statement fails', async (t) => {
  const db = await tempDatabase(t, TABLE)
  for (const sql of ['INSERT INTO nope VALUES (?, ?)', `INSERT INTO t VALUES (? * 0, ?)`]) {
    const { seen, sets } = watched(10 * MANY, (i) => [i, longText])
    await assert.rejects(db.executeBatch(sql, sets))
    assert.equal(seen.closed, 1, sql)
  }
})

// G42
test('the iterator of the sets is closed when the signal fires between two turns', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const controller = new AbortController()
  const { seen, sets } = watched(10 * MANY, (i) => [i, longText])
  const batch = db.executeBatch(INSERT, sets, { signal: controller.signal })
  setImmediate(() => controller.abort())
  await assert.rejects(batch, withCode('RESQLITE_ABORTED'))
  assert.equal(seen.closed, 1)
})

test('the iterator of the sets is closed when the database is closed, and the batch is done', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const { seen, sets } = watched(MANY, (i) => [i, longText])
  const batch = db.executeBatch(INSERT, sets)
  await db.close()
  assert.deepEqual([(await batch).changes, seen.closed], [MANY, 1])
})

// G42
test('an iterator of sets that was exhausted is not closed again, nor is one that threw', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const calls: string[] = []
  const iterable = (end: () => IteratorResult<never>) => ({
    [Symbol.iterator]: () => ({
      next: end,
      return: () => {
        calls.push('return')
        return { value: undefined, done: true as const }
      },
    }),
  })
  await db.executeBatch(
    INSERT,
    iterable(() => ({ value: undefined, done: true })),
  )
  const broken = iterable(() => {
    throw new Error('mine')
  })
  await assert.rejects(db.executeBatch(INSERT, broken), /mine/)
  assert.deepEqual(calls, [])
})

test('a set with too few or too many parameters is named', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a, b)')
  const insert = 'INSERT INTO t VALUES (?, ?)'
  const wrong = (set: number) =>
    withCode('RESQLITE_PARAMETER', `set at index ${set}, the statement has 2 parameters, but 1 were`)
  await assert.rejects(db.executeBatch(insert, [[1, 2], [3]]), wrong(1))
  const many = Array.from({ length: 5000 }, (_, i) => (i === 4998 ? [i] : [i, longText]))
  await assert.rejects(db.executeBatch(insert, many), wrong(4998))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

test('sets may come from an async iterable', async (t) => {
  const db = await tempDatabase(t, TABLE)
  async function* sets() {
    for (let id = 0; id < 3; id++) yield await Promise.resolve([id, `row ${id}`])
  }
  assert.equal((await db.executeBatch(INSERT, sets())).changes, 3)
  assert.equal(
    (await db.transaction((tx) => tx.executeBatch('DELETE FROM t WHERE id = ?', [[0]]))).changes,
    1,
  )
})

test('an async iterable of many sets is sent in parts, all or nothing', async (t) => {
  const db = await tempDatabase(t, TABLE)
  async function* sets(last: SqlParams) {
    yield* manySets(10_000)
    yield last
  }
  await assert.rejects(db.executeBatch(INSERT, sets([0, 'again'])), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  await assert.rejects(db.executeBatch(INSERT, sets([undefined as never])), withCode('RESQLITE_PARAMETER'))
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
  assert.equal((await db.executeBatch(INSERT, sets([-1, 'new']))).changes, 10_001)
})

test('an error of an async iterable undoes the batch', async (t) => {
  const db = await tempDatabase(t, TABLE)
  async function* sets() {
    yield* manySets(4000)
    throw new Error('the file ended early')
  }
  await assert.rejects(db.executeBatch(INSERT, sets()), /the file ended early/)
  assert.deepEqual(await db.select('SELECT * FROM t'), [])
})

for (const before of [0, 4000]) {
  test(`a signal ends a batch whose next set never comes, after ${before} sets`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    const controller = new AbortController()
    async function* sets() {
      yield* manySets(before)
      controller.abort()
      await new Promise(() => {})
    }
    await assert.rejects(
      db.executeBatch(INSERT, sets(), { signal: controller.signal }),
      withCode('RESQLITE_ABORTED'),
    )
    assert.deepEqual(await db.select('SELECT * FROM t'), [])
  })
}

test('the async iterable is closed when the batch fails', async (t) => {
  const db = await tempDatabase(t, TABLE)
  let closed = false
  async function* sets() {
    try {
      yield [1, 'a']
      yield [new Date()] as never
    } finally {
      closed = true
    }
  }
  await assert.rejects(db.executeBatch(INSERT, sets()), withCode('RESQLITE_PARAMETER'))
  assert.ok(closed)
})

const TEXTS = [
  '',
  'plain',
  'é',
  '日本語',
  '😀',
  'a\0b',
  'x'.repeat(1024),
  'y'.repeat(1025),
  '😀'.repeat(512),
  'half \ud83d',
  '\ude00 other half',
  '\ude00',
]

test('texts of all kinds arrive as they are, whatever stands beside them', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a, b)')
  const sets = TEXTS.flatMap((a) => TEXTS.map((b) => [a, b]))
  await db.executeBatch('INSERT INTO t VALUES (?, ?)', Array.from({ length: 10 }, () => sets).flat())
  const rows = await db.select('SELECT a, b FROM t ORDER BY rowid', [], { arrays: true })
  const stored = sets.map((set) => set.map((text) => Buffer.from(text).toString()))
  assert.equal(rows.length, 10 * sets.length)
  for (const [i, row] of rows.entries()) assert.deepEqual(row, stored[i % sets.length])
})

// G18
test('a Utf8 arrives as it is among texts that are deferred, and its bytes may change after its set was taken', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a, b, c)')
  const bytes = Buffer.alloc(8)
  function* sets(): Generator<SqlValue[]> {
    for (let id = 0; id < 5000; id++) {
      const length = bytes.write(`é${id}`)
      yield [`a${id}`, new Utf8(bytes, 0, length), `漢${id}`]
    }
  }
  await db.executeBatch('INSERT INTO t VALUES (?, ?, ?)', sets())
  const rows = await db.select('SELECT * FROM t ORDER BY rowid', [], { arrays: true })
  assert.deepEqual(
    rows,
    Array.from({ length: 5000 }, (_, id) => [`a${id}`, `é${id}`, `漢${id}`]),
  )
})

// G18
test('a Utf8 of other bytes is named with its set, and nothing was written', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a)')
  const sets = [[new Utf8(Buffer.from('good'))], [new Utf8(Buffer.from([0xc3, 0x28]))]]
  await assert.rejects(db.executeBatch('INSERT INTO t VALUES (?)', sets), {
    code: 'RESQLITE_PARAMETER',
    index: 1,
    message: /^set at index 1, parameter 1 is a Utf8 whose bytes are not UTF-8/,
  })
  assert.equal((await db.selectOne<{ n: number }>('SELECT count(*) AS n FROM t'))?.n, 0)
})

test('named texts arrive as they are', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(a, b)')
  await db.executeBatch('INSERT INTO t VALUES (:a, :b)', [
    { b: 'two', a: 'one' },
    { a: '日本', b: 'é' },
  ])
  assert.deepEqual(await db.select('SELECT a, b FROM t ORDER BY rowid'), [
    { a: 'one', b: 'two' },
    { a: '日本', b: 'é' },
  ])
})

test('an iterator that is complete is not closed, and its return need not give a promise', async (t) => {
  const db = await tempDatabase(t, TABLE)
  let closed = 0
  const sets = (count: number) => ({
    [Symbol.asyncIterator]: () => {
      let id = 0
      const next = async () => ({ value: [id, 'x'] as SqlParams, done: id++ === count })
      return { next, return: () => ++closed as never }
    },
  })
  assert.equal((await db.executeBatch(INSERT, sets(3))).changes, 3)
  assert.equal(closed, 0)
  await assert.rejects(db.executeBatch(INSERT, sets(10_000)), withCode('SQLITE_CONSTRAINT_PRIMARYKEY'))
  assert.equal(closed, 1)
})

for (const before of [1, 4000]) {
  // G217
  test(`the end of a transaction ends a batch whose next set never comes, after ${before} sets`, async (t) => {
    const db = await tempDatabase(t, TABLE)
    async function* sets(stalled: () => void) {
      yield* manySets(before)
      stalled()
      await new Promise(() => {})
    }
    const tx = await db.begin()
    let batch: Promise<void> | undefined
    await new Promise<void>((stalled) => {
      batch = assert.rejects(tx.executeBatch(INSERT, sets(stalled)), withCode('RESQLITE_TRANSACTION'))
    })
    await tx.rollback()
    await batch
    assert.deepEqual(await db.select('SELECT * FROM t'), [])
  })
}
