import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Row } from 'resqlite'
import { withCode } from './support/errors'
import { fold } from './support/fold'
import { quiet, Watch } from './support/live'
import { random } from './support/random'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, place REAL, v);
  INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'b'), (3, 3, 'c');
`
const SQL = 'SELECT * FROM t ORDER BY place, id'
const IN_PLACE = { key: 'id', rows: 'inPlace' } as const

// G147
test('all patches have the same array, changed in place, and unchanged rows are the same objects', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const patches = db.stream(SQL).patches(IN_PLACE)
  const { rows } = (await patches.next()).value
  const [first, second, third] = rows
  assert.deepEqual(rows, await db.select(SQL))
  for (const write of [
    "UPDATE t SET v = 'B' WHERE id = 2",
    "INSERT INTO t VALUES (4, 1.5, 'd')",
    'DELETE FROM t WHERE id = 4',
  ]) {
    await db.execute(write)
    assert.equal((await patches.next()).value.rows, rows)
    assert.deepEqual(rows, await db.select(SQL))
  }
  assert.equal(rows[0], first)
  assert.notEqual(rows[1], second)
  assert.equal(rows[2], third)
  await patches.return()
})

// G147
test('the array changes only when the iterator is asked for its next patch', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const patches = live.patches(IN_PLACE)
  const { rows } = (await patches.next()).value
  const other = live.patches(IN_PLACE)
  await other.next()
  const before = await db.select(SQL)
  await db.execute('DELETE FROM t WHERE id = 1')
  assert.deepEqual((await other.next()).value.rows, await db.select(SQL))
  assert.deepEqual(rows, before)
  await patches.next()
  assert.deepEqual(rows, await db.select(SQL))
  await patches.return()
  await other.return()
})

// G147
test('each iterator has an array of its own, which is not that of other subscribers', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const [one, two, fresh] = [live.patches(IN_PLACE), live.patches(IN_PLACE), live.patches({ key: 'id' })]
  const watch = new Watch(live)
  const firsts = [
    (await one.next()).value.rows,
    (await two.next()).value.rows,
    (await fresh.next()).value.rows,
    await watch.value(),
    live.current,
  ]
  assert.equal(new Set(firsts.slice(0, 4)).size, 4)
  const [oneRows, twoRows, freshRows] = firsts
  const before = await db.select(SQL)
  await db.execute("INSERT INTO t VALUES (4, 0, 'd')")
  assert.equal((await one.next()).value.rows, oneRows)
  assert.equal((await two.next()).value.rows, twoRows)
  const now = await db.select(SQL)
  assert.deepEqual((await fresh.next()).value.rows, now)
  assert.deepEqual([oneRows, twoRows, freshRows], [now, now, before])
  assert.deepEqual(await watch.value(), now)
  for (const iterator of [one, two, fresh]) await iterator.return()
  watch.stop()
})

// G147
test('the array stays as it is once the iteration has ended', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const watch = new Watch(live)
  await watch.value()
  const patches = live.patches(IN_PLACE)
  const { rows } = (await patches.next()).value
  const before = [...rows]
  await patches.return()
  await db.execute('DELETE FROM t')
  assert.deepEqual(await watch.value(), [])
  assert.deepEqual(rows, before)
  watch.stop()
})

// G147
test('an error of the query ends the iteration and leaves the array as it was; the next one begins anew', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(SQL)
  const patches = live.patches(IN_PLACE)
  const { rows } = (await patches.next()).value
  const before = [...rows]
  await db.exec('ALTER TABLE t RENAME TO gone')
  await assert.rejects(patches.next(), withCode('SQLITE_ERROR', 'no such table: t'))
  assert.deepEqual(rows, before)
  await db.exec('ALTER TABLE gone RENAME TO t')
  const anew = live.patches(IN_PLACE)
  const first = (await anew.next()).value
  assert.deepEqual([first.initial, first.rows], [true, before])
  assert.notEqual(first.rows, rows)
  await anew.return()
})

test('a key that is not unique ends the iteration and leaves the array as it was', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const patches = db.stream(SQL).patches({ key: 'v', rows: 'inPlace' })
  const { rows } = (await patches.next()).value
  const before = [...rows]
  await db.execute("UPDATE t SET v = 'a' WHERE id = 3")
  await assert.rejects(patches.next(), withCode('RESQLITE_KEY', 'v = "a"'))
  assert.deepEqual(rows, before)
})

test('another value of rows is refused by name', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const wrong = { key: 'id', rows: 'same' } as never
  assert.throws(
    () => db.stream(SQL).patches(wrong),
    withCode('RESQLITE_OPTION', 'rows', "'inPlace'", '"same"'),
  )
})

const mixtures = [
  [false, 'inPlace'],
  [false, false],
  [true, false, 'inPlace', 'inPlace'],
] as const
for (const kinds of mixtures) {
  test(`iterators with rows ${kinds.join(', ')} that fall behind get from each result to the next`, async (t) => {
    const { seed, int, pick } = random()
    const db = await tempDatabase(t, SCHEMA)
    const live = db.stream(SQL)
    const readers = kinds.map((rows) => ({
      rows,
      patches: live.patches({ key: 'id', rows }),
      shown: [] as readonly Row[],
      array: undefined as readonly Row[] | undefined,
    }))
    const writes = [
      () => db.execute('INSERT OR REPLACE INTO t VALUES (?, ?, ?)', [int(40), int(12), int(4)]),
      () => db.execute('DELETE FROM t WHERE id = ?', [int(40)]),
      () => db.execute('UPDATE t SET place = ? WHERE id = ?', [int(12), int(40)]),
      () => db.execute('UPDATE t SET v = v + 1 WHERE place > ?', [int(12)]),
      () => db.execute('UPDATE t SET place = 12 - place WHERE ? = 0', [int(4)]),
    ]
    for (let round = 0; round < 150; round++) {
      for (let i = int(3); i >= 0; i--) await pick(writes)()
      await quiet(db)
      const now = await db.select(SQL)
      for (const reader of readers.filter(() => int(3) > 0)) {
        while (JSON.stringify(reader.shown) !== JSON.stringify(now)) {
          const patch = (await reader.patches.next()).value
          const length = reader.shown.length + patch.added.length - patch.removed.length
          const folded = fold(reader.shown, { ...patch, rows: Array(length).fill(undefined) })
          if ('rows' in patch) assert.deepEqual(patch.rows, folded, `seed ${seed}, round ${round}`)
          if (reader.rows === 'inPlace') {
            reader.array ??= patch.rows
            assert.equal(patch.rows, reader.array)
          }
          reader.shown = folded
        }
      }
    }
    for (const { patches } of readers) await patches.return()
  })
}
