import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Snapshot, TransactionError } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const TABLE = 'CREATE TABLE t(x); INSERT INTO t VALUES (1)'

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

test('a snapshot cannot write', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.snapshot(async (snap) => {
    await assert.rejects(snap.select('DELETE FROM t RETURNING x'), withCode('RESQLITE_READ_ONLY'))
  })
})

test('a handle is of no use after the end', async (t) => {
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

test('a snapshot is refused inside a transaction', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await db.transaction(async () => {
    await assert.rejects(
      db.snapshot(async () => {}),
      withCode('RESQLITE_TRANSACTION', 'tx.select'),
    )
  })
})

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
