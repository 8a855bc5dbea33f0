import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from 'resqlite'
import { withCode } from './support/errors'
import { quiet, Watch } from './support/live'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT);
  INSERT INTO users VALUES (1, 'Ada'), (2, 'Grace');
`
const ONE = 'SELECT name FROM users WHERE id = ?'

// G153
test('liveQueries lists what is in use, once for equal ones, until its last use has ended', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watches = [db.stream(ONE, [1]), db.stream(ONE, [1]), db.stream(ONE, [2])].map(
    (live) => new Watch(live),
  )
  assert.deepEqual(
    db.liveQueries().map(({ sql, names }) => [sql, names]),
    [
      [[ONE], undefined],
      [[ONE], undefined],
    ],
  )
  for (const watch of watches) watch.stop()
  assert.deepEqual(db.liveQueries(), [])
})

// G153
test('a listed live query keeps its id, and tells its counters and its latest emission', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream(ONE, [1])
  const watching = new Watch(live)
  await watching.next()
  await quiet(db)
  const [listed] = db.liveQueries()
  await db.execute("UPDATE users SET name = 'ADA' WHERE id = 1")
  const { info } = await watching.next()
  assert.equal(db.liveQueries()[0]?.id, listed?.id)
  assert.deepEqual(listed?.stats, live.stats)
  assert.deepEqual(listed?.emission, info)
})

// G153
test('a listed live query explains each of its queries with its parameters', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  new Watch(db.stream({ one: { sql: ONE, params: [2] }, all: { sql: 'SELECT count(*) FROM users' } }))
  const [listed] = db.liveQueries()
  assert.deepEqual(listed?.names, ['one', 'all'])
  const [one, all] = (await listed?.explain()) ?? []
  assert.deepEqual([one?.precision, one?.tables[0]?.conditions], ['key', ['id = 2']])
  assert.equal(all?.maintenance, 'aggregates')
})

// G153
test('a listed live query says why it fails, until it works again', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream(ONE, [1]))
  await watching.next()
  const code = () => db.liveQueries()[0]?.error?.code
  assert.equal(code(), undefined)
  await db.exec('ALTER TABLE users RENAME TO people')
  await watching.error()
  assert.equal(code(), 'SQLITE_ERROR')
  await db.exec('ALTER TABLE people RENAME TO users')
  await watching.next()
  assert.equal(code(), undefined)
})

// G153
test('liveQueries lists those of all objects on the same file, and of no other', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const other = await tempDatabase(t, SCHEMA)
  const second = await Database.open(db.path)
  t.after(() => second.close())
  new Watch(second.stream(ONE, [1]))
  assert.equal(db.liveQueries().length, 1)
  assert.equal(other.liveQueries().length, 0)
  await second.close()
  assert.equal(db.liveQueries().length, 0)
})

test('liveQueries is refused on a closed database', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await db.close()
  assert.throws(() => db.liveQueries(), withCode('RESQLITE_CLOSED'))
})
