import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database, Row } from 'resqlite'
import { withCode } from './support/errors'
import { quiet, Watch } from './support/live'
import { random } from './support/random'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, age INTEGER, seen INTEGER);
  CREATE TABLE other(x);
  INSERT INTO users VALUES (1, 'Ada', 36, 0), (2, 'Grace', 85, 0);
`
const ONE = 'SELECT name FROM users WHERE id = ?'

test('an audit leaves the reason of the last re-run', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(ONE, [1], { verify: 1 })
  const watching = new Watch(live)
  await watching.next()
  await quiet(db)
  await db.execute("UPDATE users SET name = 'ADA' WHERE id = 1")
  await watching.next()
  await quiet(db) // a live query that is busy is not audited
  await db.execute("UPDATE users SET name = 'GRACE' WHERE id = 2")
  await quiet(db)
  assert.deepEqual([live.stats.audits, live.stats.lastReason], [1, 'rows'])
  watching.stop()
})

// G134
test('the counters say what each commit caused', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(ONE, [1])
  assert.deepEqual([live.stats.emitted, live.stats.lastReason], [0, 'first'])
  const watching = new Watch(live)
  await watching.next()
  await quiet(db)
  const before = live.stats
  await db.execute('INSERT INTO other VALUES (1)')
  await db.execute('UPDATE users SET seen = 1')
  await db.execute("UPDATE users SET name = 'GRACE' WHERE id = 2")
  await db.execute("UPDATE users SET name = 'ADA' WHERE id = 1")
  await watching.next()
  const { stats } = live
  const counted = (name: 'skippedByTable' | 'skippedByColumn' | 'skippedByKey' | 'reruns' | 'emitted') =>
    stats[name] - before[name]
  assert.deepEqual(
    [counted('skippedByTable'), counted('skippedByColumn'), counted('skippedByKey')],
    [1, 1, 1],
  )
  assert.deepEqual([counted('reruns'), counted('emitted')], [1, 1])
  assert.deepEqual([stats.lastReason, stats.rows, stats.missed, stats.volatile], ['rows', 1, 0, false])
  assert.ok(stats.lastMicros > 0 && stats.totalMicros >= stats.lastMicros)
  watching.stop()
  assert.deepEqual(live.stats, stats, 'still known after the end')
})

// G134
test('an open live query and its end are seen in the diagnostics', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream(ONE, [1]))
  await watching.next()
  assert.equal((await db.diagnostics()).streams.open, 1)
  watching.stop()
  const { open, emitted } = (await db.diagnostics()).streams
  assert.deepEqual([open, emitted], [0, 1])
})

// G135
test('a query that uses the time or chance is volatile', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  for (const sql of ["SELECT datetime('now') AS now", 'SELECT random() AS r']) {
    const live = db.stream(sql)
    await new Watch(live).next()
    assert.equal(live.stats.volatile, true, sql)
  }
})

// G135
test('explainStream says how precisely affecting commits are recognised', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  assert.deepEqual(await db.explainStream(ONE, [1]), {
    precision: 'key',
    unknown: null,
    tables: [
      {
        schema: 'main',
        table: 'users',
        columns: ['id', 'name'],
        precision: 'key',
        conditions: ['id = 1'],
        why: null,
      },
    ],
    volatile: [],
    maintenance: 'rows',
    whyRerun: null,
  })
  const precision = async (sql: string) => (await db.explainStream(sql)).precision
  assert.equal(await precision('SELECT * FROM users WHERE age > 40'), 'range')
  assert.equal(await precision('SELECT name FROM users'), 'columns')
  assert.equal(await precision('SELECT * FROM sqlite_schema'), 'unknown')
})

// G135
test('explainStream says why the precision is not higher', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { tables } = await db.explainStream('SELECT name FROM users WHERE id + 0 = 1')
  assert.equal(typeof tables[0]?.why, 'string')
  const { unknown } = await db.explainStream('SELECT * FROM sqlite_schema')
  assert.equal(typeof unknown, 'string')
  const { volatile } = await db.explainStream('SELECT random()')
  assert.deepEqual(volatile, ['random'])
})

test('explainStream refuses what select refuses', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await assert.rejects(db.explainStream('SELECT nope FROM users'), withCode('SQLITE_ERROR', 'nope'))
  await assert.rejects(db.explainStream(ONE), withCode('RESQLITE_PARAMETER'))
})

/** Queries of many kinds. None may miss an update. */
const queries: [string, number[]][] = [
  [ONE, [1]],
  ['SELECT * FROM users WHERE age BETWEEN ? AND ? ORDER BY name', [20, 60]],
  ['SELECT count(*) AS n, max(age) AS oldest FROM users', []],
  ['SELECT u.name, o.x FROM users u LEFT JOIN other o ON o.x = u.id WHERE u.age IN (?, ?)', [36, 85]],
  ['SELECT name FROM users WHERE id IN (SELECT x FROM other)', []],
  ['SELECT age FROM users ORDER BY seen DESC, id LIMIT 3', []],
]

async function randomWrite(db: Database, { int }: ReturnType<typeof random>): Promise<unknown> {
  const id = 1 + int(8)
  switch (int(7)) {
    case 0:
      return await db.execute('INSERT OR REPLACE INTO users VALUES (?, ?, ?, ?)', [
        id,
        `n${int(5)}`,
        int(100),
        int(3),
      ])
    case 1:
      return await db.execute('DELETE FROM users WHERE id = ?', [id])
    case 2:
      return await db.execute('UPDATE users SET age = ? WHERE id = ?', [int(100), id])
    case 3:
      return await db.execute('UPDATE users SET seen = seen + 1 WHERE id = ?', [id])
    case 4:
      return await db.execute('UPDATE OR REPLACE users SET id = ? WHERE id = ?', [1 + int(8), id])
    case 5:
      return await db.execute('INSERT INTO other VALUES (?)', [id])
    default:
      return await db.execute('DELETE FROM other WHERE x = ?', [id])
  }
}

// G105
test('whatever is written, no live query misses an update, and audits find nothing', async (t) => {
  const choices = random()
  const db = await tempDatabase(t, SCHEMA)
  const lives = queries.map(([sql, params]) => db.stream(sql, params, { verify: 0.3 }))
  const watching = lives.map((live) => new Watch<Row[]>(live))
  await Promise.all(watching.map((each) => each.next()))
  for (let round = 0; round < 200; round++) {
    for (let i = choices.int(3); i >= 0; i--) await randomWrite(db, choices)
    if (choices.int(2) === 0) continue
    for (const [i, [sql, params]] of queries.entries()) {
      const expected = JSON.stringify(await db.select(sql, params))
      const live = lives[i] as (typeof lives)[0]
      if (JSON.stringify(live.current) === expected) continue
      await watching[i]?.until((rows) => JSON.stringify(rows) === expected)
    }
  }
  for (const { stats } of lives) assert.equal(stats.missed, 0, `seed ${choices.seed}`)
  assert.ok(lives.some(({ stats }) => stats.audits > 0))
})
