import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Patch, Row } from 'resqlite'
import { withCode } from './support/errors'
import { fold } from './support/fold'
import { Watch } from './support/live'
import { random } from './support/random'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, place REAL, v);
  INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
`
const SQL = 'SELECT * FROM t ORDER BY place, id'

// G128
test('patches name the rows that were added, removed, updated and moved', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const changes = db.stream(SQL).patches({ key: 'id' })
  const initial = (await changes.next()).value as Patch
  assert.equal(initial.initial, true)
  assert.deepEqual(
    initial.added.map(({ index, row }) => [index, row.id]),
    [
      [0, 1],
      [1, 2],
      [2, 3],
    ],
  )
  const { commit } = await db.execute("INSERT INTO t VALUES (4, 1.5, 'd')")
  const patch = (await changes.next()).value as Patch
  assert.deepEqual(patch, {
    initial: false,
    rows: await db.select(SQL),
    added: [{ index: 1, row: { id: 4, place: 1.5, v: 'd' } }],
    removed: [],
    updated: [],
    moved: [],
    commit,
    since: initial.version,
    version: patch.version,
  })
  await db.execute('DELETE FROM t WHERE id = 1')
  assert.deepEqual((await changes.next()).value.removed, [{ index: 0, row: { id: 1, place: 1, v: 'a' } }])
  await db.execute("UPDATE t SET v = 'B' WHERE id = 2")
  assert.deepEqual((await changes.next()).value.updated, [
    { from: 1, index: 1, previous: { id: 2, place: 2, v: 'b' }, row: { id: 2, place: 2, v: 'B' } },
  ])
  await changes.return?.()
})

test('a row that changes its position and no selected value is moved', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const changes = db.stream('SELECT id, v FROM t ORDER BY place').patches({ key: 'id' })
  await changes.next()
  await db.execute('UPDATE t SET place = 0 WHERE id = 3')
  const { moved, added, removed, updated } = (await changes.next()).value as Patch
  assert.deepEqual(moved, [{ from: 2, index: 0, row: { id: 3, v: 'c' } }])
  assert.deepEqual([added, removed, updated], [[], [], []])
  await changes.return?.()
})

test('several columns together can be the key', async (t) => {
  const db = await tempDatabase(
    t,
    'CREATE TABLE p(a, b, v); INSERT INTO p VALUES (1, 1, 0), (1, 2, 0), (2, 1, 0)',
  )
  const changes = db.stream('SELECT * FROM p').patches({ key: ['a', 'b'] })
  await changes.next()
  await db.execute('UPDATE p SET v = 1 WHERE b = 2')
  assert.deepEqual(
    (await changes.next()).value.updated.map(({ row }: { row: Row }) => row),
    [{ a: 1, b: 2, v: 1 }],
  )
  await changes.return?.()
})

// G128
test('patches that were not consumed become one', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const changes = live.patches({ key: 'id' })
  await changes.next()
  const watching = new Watch(live)
  await db.execute("INSERT INTO t VALUES (4, 4, 'd'), (5, 5, 'e')")
  await watching.until((rows) => rows.length === 5)
  await db.execute('DELETE FROM t WHERE id IN (1, 4)')
  await watching.until((rows) => rows.length === 3)
  const { commit } = await db.execute("UPDATE t SET v = 'C' WHERE id = 3")
  await watching.value()
  const patch = (await changes.next()).value as Patch
  assert.deepEqual(patch.rows, await db.select(SQL))
  assert.deepEqual(
    [patch.added, patch.removed, patch.updated].map((list) => list.map(({ row }) => row.id)),
    [[5], [1], [3]],
  )
  assert.equal(patch.commit, commit)
  await changes.return?.()
  watching.stop()
})

// G129
test('a key that is not unique ends it with an error that names the key', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const changes = db.stream(SQL).patches({ key: 'v' })
  await changes.next()
  await db.execute("UPDATE t SET v = 'a' WHERE id = 3")
  await assert.rejects(changes.next(), withCode('RESQLITE_KEY', 'v = "a"'))
  assert.deepEqual(await changes.next(), { value: undefined, done: true })
  assert.equal((await db.diagnostics()).streams.open, 0)
})

test('equal rows have no unique key', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const changes = db.stream('SELECT 1 AS one FROM t').patches({ key: 'one' })
  await assert.rejects(changes.next(), withCode('RESQLITE_KEY', 'one = 1'))
})

// G129
test('a key that the result does not have is refused, also without rows', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const changes = db.stream('SELECT id, v FROM t WHERE 0').patches({ key: 'nope' })
  await assert.rejects(changes.next(), withCode('RESQLITE_KEY', '"nope"', '"id", "v"'))
})

// G118
test('columns that come later are in the rows that follow', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const changes = db.stream(SQL).patches({ key: 'id' })
  await changes.next()
  await db.exec('ALTER TABLE t ADD COLUMN w DEFAULT 7')
  const { updated, added, removed } = (await changes.next()).value as Patch
  assert.deepEqual([updated.length, added, removed], [3, [], []])
  assert.deepEqual(updated[0]?.row, { id: 1, place: 1, v: 'a', w: 7 })
  await changes.return?.()
})

const queries: Record<string, string> = {
  'in the order of a column': SQL,
  'in the opposite order': 'SELECT id, v FROM t ORDER BY place DESC, id',
  'through a condition': 'SELECT * FROM t WHERE place BETWEEN 3 AND 8 ORDER BY v, id',
  'of a limited result': 'SELECT id, v FROM t ORDER BY place, id LIMIT 5',
}
for (const [which, sql] of Object.entries(queries)) {
  // G128
  test(`the lists of patches ${which} lead from each result to the next`, async (t) => {
    const { seed, int, pick } = random()
    const db = await tempDatabase(t, SCHEMA)
    const changes = db.stream(sql).patches({ key: 'id' })
    const step = [
      () => db.execute('INSERT OR REPLACE INTO t VALUES (?, ?, ?)', [int(20), int(12), int(4)]),
      () => db.execute('DELETE FROM t WHERE id = ?', [int(20)]),
      () => db.execute('UPDATE t SET place = ? WHERE id = ?', [int(12), int(20)]),
      () => db.execute('UPDATE t SET v = ? WHERE place > ?', [int(4), int(12)]),
      () => db.execute('UPDATE t SET place = 12 - place'),
    ]
    let rows: Row[] = []
    for (let round = 0; round < 150; round++) {
      for (let i = int(3); i >= 0; i--) await pick(step)()
      if (int(3) === 0) continue // it falls behind
      const now = JSON.stringify(await db.select(sql))
      while (JSON.stringify(rows) !== now) {
        const patch = (await changes.next()).value as Patch
        assert.deepEqual(fold(rows, patch), patch.rows, `seed ${seed}, round ${round}`)
        rows = patch.rows
      }
    }
    await changes.return?.()
  })
}
