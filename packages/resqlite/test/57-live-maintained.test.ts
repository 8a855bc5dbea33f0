import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet, Watch } from './support/live'
import { tempDatabase } from './support/temp'

const ROWS = 200
const SCHEMA = `
  CREATE TABLE owners(id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE tasks(id INTEGER PRIMARY KEY, owner INTEGER, due INTEGER);
  INSERT INTO owners VALUES (0, 'Ada'), (1, 'Grace');
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
  INSERT INTO tasks SELECT i, i % 2, i / 10 FROM n;
`
const JOINED = `SELECT tasks.id, owners.name, tasks.due FROM tasks JOIN owners ON owners.id = tasks.owner
  WHERE tasks.due < 1000 ORDER BY tasks.due DESC`
const IN_ORDER = `${JOINED}, tasks.id DESC`

test('after a commit only the rows of changed rows are asked for', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(JOINED)
  const watching = new Watch(live)
  await watching.value()
  await quiet(db)
  for (const sql of [
    'UPDATE tasks SET due = 7 WHERE id = 1',
    'UPDATE tasks SET due = 9 WHERE id = 2',
    'DELETE FROM tasks WHERE id = 3',
    'INSERT INTO tasks VALUES (1001, 1, 5)',
    'UPDATE tasks SET id = 1002 WHERE id = 4',
    'UPDATE tasks SET due = 2000 WHERE id = 5',
  ]) {
    await db.execute(sql)
    assert.deepEqual(await watching.value(), await db.select(IN_ORDER), sql)
  }
  const { reruns, maintained, rowsAsked } = live.stats
  assert.deepEqual(
    [reruns - maintained, maintained],
    [1, 5],
    'the first re-run finds out where rows come from',
  )
  assert.ok(rowsAsked >= 5 && rowsAsked <= 10, `${rowsAsked} rows`)
})

test('rows that ORDER BY leaves equal come in the order of their keys, in the direction of its last term', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream(JOINED))
  assert.deepEqual(await watching.value(), await db.select(IN_ORDER))
})

test('a change of a row that many rows are joined with changes all of them', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream(JOINED))
  await watching.value()
  for (const name of ['Hedy', 'Mary', 'Ada']) {
    await db.execute('UPDATE owners SET name = ? WHERE id = 0', [name])
    assert.deepEqual(await watching.value(), await db.select(IN_ORDER))
  }
})

test('with maintain: false the whole query runs again', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(JOINED, [], { maintain: false })
  const watching = new Watch(live)
  await watching.value()
  for (let due = 1; due < 4; due++) {
    await db.execute('UPDATE tasks SET due = ? WHERE id = 100', [100 * due])
    await watching.value()
  }
  assert.deepEqual([live.stats.maintained, live.stats.rowsAsked], [0, 0])
})

test('a small result is read as a whole', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream('SELECT id, due FROM tasks WHERE id <= 10')
  const watching = new Watch(live)
  await watching.value()
  for (let due = 1; due < 4; due++) {
    await db.execute('UPDATE tasks SET due = ? WHERE id = 5', [100 * due])
    await watching.value()
  }
  assert.equal(live.stats.maintained, 0)
})

test('explainStream says whether a result is maintained, and why not', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const maintenance = async (sql: string) => {
    const { maintenance, whyRerun } = await db.explainStream(sql)
    return [maintenance, whyRerun]
  }
  assert.deepEqual(await maintenance(JOINED), ['rows', null])
  assert.deepEqual(await maintenance('SELECT DISTINCT owner FROM tasks'), ['rerun', 'it has DISTINCT'])
})
