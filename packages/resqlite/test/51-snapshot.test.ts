import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AbortError, Database, Snapshot, TransactionError } from 'resqlite'
import { ENDLESS, gate, withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const TABLE = 'CREATE TABLE t(x); INSERT INTO t VALUES (1)'

// G63
test('all selects of a snapshot see one committed state', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const seen = await db.snapshot(async (snap) => {
    const before = await snap.select('SELECT x FROM t')
    await db.exec('INSERT INTO t VALUES (2)')
    const bytes = await snap.selectBytes('SELECT x FROM t')
    return [before, await snap.select('SELECT x FROM t'), JSON.parse(Buffer.from(bytes).toString())]
  })
  assert.deepEqual(seen, [[{ x: 1 }], [{ x: 1 }], [{ x: 1 }]])
  assert.deepEqual(await db.selectOne('SELECT count(*) AS n FROM t'), { n: 2 })
})

// G63
test('the state is that of the call, not of the first select', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.snapshot(async (snap) => {
    await db.exec('DELETE FROM t')
    assert.deepEqual(await snap.selectOne('SELECT x FROM t'), { x: 1 })
  })
})

test('selects of a snapshot may be called at once', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const answers = await db.snapshot((snap) =>
    Promise.all([1, 2, 3].map((n) => snap.selectOne('SELECT x + ? AS y FROM t', [n]))),
  )
  assert.deepEqual(answers, [{ y: 2 }, { y: 3 }, { y: 4 }])
})

test('the error of the body reaches the caller, and the reader is free again', async (t) => {
  const db = await tempDatabase(t, TABLE, { readers: 1 })
  const mine = new Error('mine')
  const run = db.snapshot(async () => {
    throw mine
  })
  await assert.rejects(run, (error) => error === mine)
  assert.deepEqual(await db.select('SELECT x FROM t'), [{ x: 1 }])
})

// G64
test('a snapshot cannot write', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.snapshot(async (snap) => {
    await assert.rejects(snap.select('DELETE FROM t RETURNING x'), withCode('RESQLITE_READ_ONLY'))
  })
})

// G64
test('a handle rejects all calls after the end', async (t) => {
  const db = await tempDatabase(t, TABLE)
  let kept!: Snapshot
  await db.snapshot(async (snap) => {
    kept = snap
  })
  const uses = {
    select: () => kept.select('SELECT 1'),
    selectOne: () => kept.selectOne('SELECT 1'),
    selectBytes: () => kept.selectBytes('SELECT 1'),
  }
  for (const [operation, use] of Object.entries(uses)) {
    await assert.rejects(use(), (error: TransactionError) => {
      assert.equal(error.operation, operation)
      return withCode('RESQLITE_TRANSACTION', 'the snapshot has ended')(error)
    })
  }
})

// G64
test('a snapshot is refused inside a transaction', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async () => {
    await assert.rejects(
      db.snapshot(async () => {}),
      withCode('RESQLITE_TRANSACTION', 'tx.select'),
    )
  })
})

// G71
test('more snapshots than readers wait for each other', async (t) => {
  const db = await tempDatabase(t, TABLE, { readers: 2 })
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      db.snapshot((snap) => snap.selectOne('SELECT x + ? AS y FROM t', [i])),
    ),
  )
  assert.deepEqual(
    answers,
    Array.from({ length: 10 }, (_, i) => ({ y: i + 1 })),
  )
})

const never = () => new Promise<never>(() => {})

// G72
test('snapshots whose bodies iterate or open snapshots do not wait for each other, however many there are', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const bodies = Array.from({ length: 40 }, (_, i) =>
    db.snapshot(async (outer) => {
      await outer.select('SELECT x FROM t')
      const { value } = await db.iterate<{ x: number }>('SELECT x FROM t').next()
      return await db.snapshot((inner) => inner.selectOne('SELECT ? + ? AS y', [value.x, i]))
    }),
  )
  assert.deepEqual(
    await Promise.all(bodies),
    Array.from({ length: 40 }, (_, i) => ({ y: i + 1 })),
  )
})

// G72
test('a hundred snapshots may be nested', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const nest = async (depth: number): Promise<number> =>
    depth === 0 ? 0 : await db.snapshot(async () => 1 + (await nest(depth - 1)))
  assert.equal(await nest(100), 100)
})

// G72
test('when as many as can be are open and wait for their callers, those that wait are refused by name', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const end = gate()
  // It is used to the end: a snapshot that is collected frees its place.
  const untilTheEnd = async (snap: Snapshot) => {
    await end.promise
    await snap.select('SELECT x FROM t')
  }
  const held = Array.from({ length: 256 }, () => db.snapshot(untilTheEnd))
  const more = db.snapshot(untilTheEnd)
  await assert.rejects(more, withCode('RESQLITE_LEASES', '256', 'diagnostics()'))
  assert.equal((await db.diagnostics()).leases.holders.length, 256)
  end.open()
  await Promise.all(held)
})

// G65
test('a timeout interrupts what runs in a snapshot and frees the reader', async (t) => {
  const db = await tempDatabase(t, TABLE)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const seen: string[] = []
  const run = db.snapshot(
    async (snap) => {
      await snap.select(ENDLESS).catch((error) => seen.push(error.code))
      await snap.select('SELECT 1').catch((error) => seen.push(error.code))
      await never()
    },
    { timeout: 300 },
  )
  while ((await db.diagnostics()).leases.holders[0]?.idle !== false);
  t.mock.timers.tick(300)
  await assert.rejects(run, withCode('RESQLITE_TIMEOUT', 'longer than 300 ms'))
  await noLeases(db)
  // The body may hear of it after its caller.
  while (seen.length < 2) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(seen, ['RESQLITE_TIMEOUT', 'RESQLITE_TRANSACTION'])
})

// G65
test('a signal ends a snapshot, also what the body did not await', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const controller = new AbortController()
  const run = db.snapshot(
    async (snap) => {
      void snap.select(ENDLESS)
      controller.abort('enough')
      await never()
    },
    { signal: controller.signal },
  )
  await assert.rejects(run, (error: AbortError) => error.name === 'AbortError' && error.cause === 'enough')
  await noLeases(db)
})

test('a call in a snapshot that was interrupted says why it has ended', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const controller = new AbortController()
  let late: Promise<unknown> | undefined
  const run = db.snapshot(
    (snap) => {
      controller.abort('enough')
      late = snap.select('SELECT 1')
      late.catch(() => {})
    },
    { signal: controller.signal },
  )
  await assert.rejects(run, withCode('RESQLITE_ABORTED'))
  const ended = withCode('RESQLITE_TRANSACTION', 'the snapshot has ended (The operation was aborted)')
  await assert.rejects(late as Promise<unknown>, (error: TransactionError) => {
    return ended(error) && (error.cause as AbortError).name === 'AbortError'
  })
})

// G65
test('a signal cancels a snapshot that waits for others, and its body never runs', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const end = gate()
  const held = Array.from({ length: 256 }, () =>
    db.snapshot(async (snap) => {
      await end.promise
      await snap.select('SELECT x FROM t')
    }),
  )
  const controller = new AbortController()
  const waiting = db.snapshot(async () => assert.fail('must not run'), { signal: controller.signal })
  while ((await db.diagnostics()).leases.queued === 0);
  controller.abort()
  await assert.rejects(waiting, withCode('RESQLITE_ABORTED'))
  end.open()
  await Promise.all(held)
})

test('a signal that has fired before opens nothing', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const run = db.snapshot(async () => assert.fail('must not run'), { signal: AbortSignal.abort() })
  await assert.rejects(run, withCode('RESQLITE_ABORTED'))
})

test('options are checked by name', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const refused = { timeout: [0, '10', -1], signal: [1], batchSize: [10] }
  for (const [name, values] of Object.entries(refused)) {
    for (const value of values) {
      await assert.rejects(
        db.snapshot(async () => {}, { [name]: value }),
        withCode('RESQLITE_OPTION', name),
      )
    }
  }
})

// G65
test('a body that fails interrupts what it left running', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const run = db.snapshot(async (snap) => {
    void snap.select(ENDLESS)
    throw new Error('mine')
  })
  await assert.rejects(run, /mine/)
  await noLeases(db)
})

// G65
test('closing the database interrupts what runs in a snapshot', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const inside = gate()
  const run = db.snapshot(async (snap) => {
    inside.open()
    await snap.select(ENDLESS)
  })
  await inside.promise
  await Promise.all([assert.rejects(run, withCode('RESQLITE_CLOSED')), db.close()])
})

async function noLeases(db: Database): Promise<void> {
  for (;;) {
    const { leases } = await db.diagnostics()
    if (leases.open + leases.queued + leases.holders.length === 0) return
  }
}
