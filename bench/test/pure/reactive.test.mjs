import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytes, count, rate, time, times } from '../../live/figure.mjs'
import { burst } from '../../reactive/burst.mjs'
import * as external from '../../reactive/cases/external.mjs'
import * as feed from '../../reactive/cases/feed.mjs'
import { shapes as growing } from '../../reactive/cases/growth.mjs'
import * as keys from '../../reactive/cases/keys.mjs'
import * as owners from '../../reactive/cases/owners.mjs'
import { counting } from '../../reactive/cases/small.mjs'
import { fittedTask, limits, opsFor, roundsFor } from '../../reactive/fit.mjs'
import { reactiveWorkloads } from '../../reactive/index.mjs'
import { addRow, assertRows, modelOf, trimModel } from '../../reactive/model.mjs'
import { createSql, numbered, postgresWrite, sqliteWrite } from '../../reactive/sql.mjs'
import { openStreams, Stream } from '../../reactive/stream.mjs'

const table = {
  name: 't',
  columns: { id: 'INTEGER', code: 'INTEGER', text: 'TEXT' },
  unique: 'code',
  indexes: [['text DESC', 'id']],
}

test('a table is made with its key, its unique column and its indexes', () => {
  assert.deepEqual(createSql(table), [
    'CREATE TABLE t (id INTEGER PRIMARY KEY, code INTEGER UNIQUE, text TEXT)',
    'CREATE INDEX t_index_1 ON t (text DESC, id)',
  ])
})

test('writes have the parameters of their kind, in the same order for SQLite and Postgres', () => {
  const columns = ['code', 'text']
  assert.equal(sqliteWrite({ kind: 'insert', table }), 'INSERT INTO t (id, code, text) VALUES (?, ?, ?)')
  assert.equal(
    sqliteWrite({ kind: 'update', table, columns }),
    'UPDATE t SET code = ?, text = ? WHERE id = ?',
  )
  assert.equal(
    postgresWrite({ kind: 'update', table, columns }),
    'UPDATE t SET code = $1, text = $2 WHERE id = $3',
  )
  assert.equal(
    postgresWrite({ kind: 'increment', table, columns: ['code'] }),
    'UPDATE t SET code = code + $1 WHERE id = $2',
  )
  assert.equal(sqliteWrite({ kind: 'trim', table }), 'DELETE FROM t WHERE id > ?')
})

test('a replacement goes by the unique column', () => {
  assert.equal(
    sqliteWrite({ kind: 'replace', table }),
    'INSERT OR REPLACE INTO t (id, code, text) VALUES (?, ?, ?)',
  )
  assert.equal(
    postgresWrite({ kind: 'replace', table }, 2),
    'INSERT INTO t (id, code, text) VALUES ($1, $2, $3), ($4, $5, $6) ON CONFLICT (code) DO UPDATE SET text = excluded.text',
  )
})

test('parameters are numbered from 1', () => {
  assert.equal(numbered('a = ? AND b = ?'), 'a = $1 AND b = $2')
})

test('a model has the rows by key, and keeps up with what is added and trimmed', () => {
  const model = modelOf(table, [[1, 10, 'one']])
  addRow(model, table, [2, 20, 'two'])
  assert.deepEqual(
    [...model.values()],
    [
      { id: 1, code: 10, text: 'one' },
      { id: 2, code: 20, text: 'two' },
    ],
  )
  trimModel(model, 1)
  assert.deepEqual([...model.keys()], [1])
})

test('rows must be as many and have the expected values; other columns do not matter', () => {
  assertRows([{ id: 1, more: 2 }], [{ id: 1 }], 'rows')
  assert.throws(() => assertRows([{ id: 2 }], [{ id: 1 }], 'rows'), /rows: id of row 0 is 2, not 1/)
  assert.throws(() => assertRows([], [{ id: 1 }], 'rows'), /rows: 0 rows instead of 1/)
})

test('a stream has arrived when a value came that shows the last write', async () => {
  const stream = new Stream({ sql: '' })
  assert.equal(stream.arrival(), undefined)
  stream.expect(([n]) => n === 2)
  stream.onRows([1])
  const arrival = stream.arrival()
  assert.ok(arrival)
  stream.onRows([2])
  await arrival
  assert.equal(stream.arrival(), undefined)
  assert.equal(stream.emissions, 2)
})

test('a stream that showed an earlier write is waited for again', () => {
  const stream = new Stream({ sql: '' })
  stream.expect(([n]) => n === 1)
  stream.onRows([1])
  stream.expect(([n]) => n === 2)
  assert.ok(stream.arrival() instanceof Promise)
  stream.onRows([2])
})

test('a value that never comes is an error', async () => {
  const stream = new Stream({ sql: 'SELECT 1' }, 1)
  stream.expect(() => false)
  await assert.rejects(stream.arrival(), /never showed the last write: SELECT 1/)
})

/** A peer that holds one table in memory and calls its listeners in a later turn, with what `show` makes of the rows. */
function fakeSession(show = (rows) => rows) {
  const rows = new Map([[1, { id: 1, n: 0 }]])
  const listeners = []
  const value = () => show([...rows.values()].map((row) => ({ ...row })))
  return {
    quiet: 1,
    errors: [],
    async live(_query, onRows) {
      listeners.push(onRows)
      onRows(value())
    },
    async update(n) {
      rows.get(1).n = n
      setImmediate(() => {
        for (const onRows of listeners) onRows(value())
      })
    },
  }
}

const query = { sql: 'all', rows: (model) => [...model.values()] }

async function run(session, options = {}) {
  const streams = await openStreams(session, [query])
  const model = new Map([[1, { id: 1, n: 0 }]])
  const write = async (i) => {
    model.get(1).n = i + 1
    streams[0].expect(([row]) => row.n >= i + 1)
    await session.update(i + 1)
    return 1
  }
  return await burst({ session, streams, model, ops: 3, write, ...options })
}

test('a burst counts what is emitted and what was needed, per write', async () => {
  const { emissions, needed, wall, main, latencies } = await run(fakeSession(), { each: true })
  assert.deepEqual([emissions, needed, latencies.length], [1, 1, 3])
  assert.ok(wall > 0 && main > 0)
})

test('a burst fails when a stream ends with other rows than the model', async () => {
  const wrong = fakeSession((rows) => [...rows, { id: 2, n: 0 }])
  await assert.rejects(run(wrong), /all: 2 rows instead of 1/)
})

test('a burst fails with the error of a live query', async () => {
  const failing = fakeSession()
  failing.errors.push(new Error('the query failed'))
  await assert.rejects(run(failing), /the query failed/)
})

test('a slow peer is given fewer writes, but some', () => {
  assert.equal(opsFor(500, 1, 4000), 500)
  assert.equal(opsFor(500, 100, 4000), 40)
  assert.equal(opsFor(500, 5000, 4000), 3)
  assert.equal(opsFor(2, 5000, 4000), 2)
})

test('there is one round at least, and no more than are wanted', () => {
  assert.equal(roundsFor(10, 25), 2)
  assert.equal(roundsFor(100, 25), 1)
  assert.equal(roundsFor(1, 25, 3), 3)
})

test('a quick task has no more writes than the limit', async () => {
  const tried = []
  const task = await fittedTask({ writes: 500, quick: true }, async (ops) => {
    tried.push(ops)
    return { wall: 0.001 }
  })
  assert.equal(task.ops, limits(true).writes)
  await task.measure()
  assert.deepEqual(tried, [3, 30, 50])
})

test('a peer that is slow for few writes only is tried with more', async () => {
  const task = await fittedTask({ writes: 500, quick: true }, async (ops) => ({ wall: 50 / ops }))
  assert.equal(task.ops, 50)
})

test('the updates by key hit a watched row, and every key is one of the table', () => {
  assert.equal(keys.hits(), 3)
  assert.ok(keys.watched.every((id) => id >= 1 && id <= keys.rows))
  assert.equal(new Set(keys.watched).size, keys.streams)
})

test('every item has one owner, whose live query shows it in the place that the workload expects', () => {
  const rows = Array.from({ length: owners.rows }, (_, i) => owners.values(i + 1))
  const model = modelOf(owners.table, rows)
  for (const owner of [0, 1, owners.owners - 1]) {
    const expected = rows.filter(([, owned]) => owned === owner).map(([id, , value]) => ({ id, value }))
    assert.deepEqual(owners.byOwner(owner).rows(model), expected)
  }
})

test('the latest posts are the latest of all', () => {
  const model = modelOf(feed.table, feed.posts(2000))
  const sorted = [...model.values()].sort((a, b) => b.created_at - a.created_at || a.id - b.id)
  assert.deepEqual(feed.latest.rows(model), sorted.slice(0, feed.shown))
})

test('a count is the number of rows of the model', () => {
  const model = modelOf(external.table, [external.values(0), external.values(1)])
  assert.deepEqual(counting('items').rows(model), [{ n: 2 }])
})

for (const { id, tables, query, change, start } of growing) {
  test(`the value after each change of ${id} shows it, and the value before does not`, () => {
    const size = 1000
    const models = {}
    for (const table of tables) {
      const rows = Array.from({ length: table.count(size) }, (_, i) => table.values(i + 1, size))
      models[table.name] = modelOf(table, rows)
    }
    const showing = start(models, query)
    for (let i = 0; i < 30; i++) {
      const row = models[change.table].get(change.id(i, size))
      const [before, shown] = [row[change.column], query.rows(models)]
      row[change.column] = change.next(before)
      const shows = showing(row, before)
      assert.equal(shows(shown), false)
      assert.equal(shows(query.rows(models)), true)
    }
  })
}

test('a figure knows its direction by its kind; one of times must be given it', () => {
  assert.deepEqual(
    [time, rate, bytes, count].map((kind) => kind('title', 1).better),
    ['lower', 'higher', 'lower', 'none'],
  )
  assert.equal(times('title', 1, { better: 'higher' }).better, 'higher')
  assert.throws(() => times('title', 1), /title: what is better\?/)
})

test('each reactive workload has an id, a version and a title of its own', () => {
  const ids = reactiveWorkloads.map(({ id }) => id)
  assert.equal(new Set(ids).size, ids.length)
  for (const { id, version, group, title, reactive, shapes } of reactiveWorkloads) {
    assert.match(id, /^reactive-/)
    assert.match(version, /^v\d+$/, id)
    assert.deepEqual([group, reactive, shapes.length], ['reactive', true, 1], id)
    assert.ok(title)
  }
  assert.equal(new Set(reactiveWorkloads.map(({ title }) => title)).size, ids.length)
})
