import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, seen INTEGER);
  CREATE TABLE other(x);
  INSERT INTO t VALUES (1, 'one', 0), (2, 'two', 0);
`

/** Follows the facts of a kind until they are as expected. */
async function factsUntil(client, kind, accepts) {
  const factsOf = (rows) => rows.map(({ data }) => JSON.parse(data))
  return factsOf(await client.rowsUntil('facts', { kind }, (rows) => accepts(factsOf(rows))))
}

/** A live query that somebody uses. */
function use(t, live) {
  t.after(live.subscribe(() => {}))
}

// G373
test('every live query of the process is listed, with what commits did to it and why', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  use(t, db.stream('SELECT a FROM t WHERE id = ?', [1]))
  use(t, db.stream('SELECT a FROM t WHERE lower(a) = ?', ['x']))
  await factsUntil(
    client,
    'live',
    (facts) => facts.length === 2 && facts.every(({ explanation }) => explanation),
  )
  await db.execute('INSERT INTO other VALUES (1)')
  await db.execute('UPDATE t SET seen = 1')
  await db.execute("UPDATE t SET a = 'TWO' WHERE id = 2")
  const facts = await factsUntil(client, 'live', (all) =>
    all.every(({ sql, stats }) => stats.commits >= 3 && (stats.reruns > 0 || sql[0].includes('id = ?'))),
  )
  const one = facts.find(({ sql }) => sql[0].includes('id = ?'))
  const lower = facts.find(({ sql }) => sql[0].includes('lower'))
  assert.deepEqual(
    [one.explanation[0].precision, one.explanation[0].tables[0].conditions],
    ['key', ['id = 1']],
  )
  assert.deepEqual([one.stats.skippedByTable, one.stats.skippedByColumn, one.stats.skippedByKey], [1, 1, 1])
  assert.deepEqual([one.own, one.stats.reruns], [false, 0])
  assert.deepEqual(
    [lower.explanation[0].precision, lower.stats.reruns, lower.stats.unchanged],
    ['columns', 1, 1],
  )
  assert.match(lower.explanation[0].tables[0].why, /plain column/)
})

test('of very many live queries, the busiest are listed', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  // One sample examines fewer.
  for (let id = 0; id < 1600; id++) use(t, db.stream('SELECT a FROM t WHERE id = ?', [id]))
  use(t, db.stream('SELECT count(*) FROM other'))
  await factsUntil(client, 'live', (facts) => facts.length > 0)
  for (let i = 0; i < 3; i++) await db.execute('INSERT INTO other VALUES (1)')
  const isBusiest = ({ sql, stats }) => sql[0].includes('other') && stats.reruns > 0
  const facts = await factsUntil(client, 'live', (all) => all.some(isBusiest))
  assert.equal(facts.length, 500)
})

test('the studio’s own live queries are told apart', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  const left = new AbortController()
  const window = JSON.stringify({ schema: 'main', table: 't', from: null })
  const grid = await fetch(`http://127.0.0.1:${client.port}/live/rows?window=${encodeURIComponent(window)}`, {
    headers: { authorization: `Bearer ${client.token}` },
    signal: left.signal,
  })
  await grid.body.getReader().read()
  const [fact] = await factsUntil(client, 'live', (facts) => facts.length === 1)
  assert.equal(fact.own, true)
  left.abort()
  await factsUntil(client, 'live', (facts) => facts.length === 0)
})

test('a live query that fails says why', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  t.after(
    db.stream('SELECT x FROM other').subscribe(
      () => {},
      () => {},
    ),
  )
  await factsUntil(client, 'live', ([fact]) => fact?.stats.emitted === 1)
  await db.exec('DROP TABLE other')
  const [fact] = await factsUntil(client, 'live', ([one]) => one?.error !== undefined)
  assert.match(fact.error, /SQLITE_ERROR: no such table/)
})

test('samples tell the commits, the writer and the log', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await factsUntil(client, 'sample', (samples) => samples.length > 0)
  await Promise.all(Array.from({ length: 50 }, () => db.execute('INSERT INTO other VALUES (1)')))
  const writes = (samples) => samples.reduce((sum, sample) => sum + sample.writes, 0)
  const samples = await factsUntil(client, 'sample', (all) => writes(all) >= 50)
  const commits = samples.reduce((sum, sample) => sum + sample.commits, 0)
  assert.ok(commits >= 1 && commits <= 50)
  const inserted = samples.flatMap(({ tables }) => tables).filter(([table]) => table === 'other')
  assert.equal(
    inserted.reduce((sum, [, [number]]) => sum + number, 0),
    50,
  )
  assert.ok(samples.at(-1).walBytes > 0)
})

test('statements are timed, failed ones and waits included, but not the studio’s own', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await factsUntil(client, 'sample', (samples) => samples.length > 0)
  await db.select('SELECT * FROM t')
  await db.select('SELECT * FROM t')
  await assert.rejects(db.select('SELECT missing FROM t'))
  await client.ask('query', { sql: 'SELECT 123' })
  const statements = await factsUntil(client, 'statement', (all) => all.length >= 2)
  const seen = statements.map(({ sql, calls, rows, errors }) => [sql, calls, rows, errors])
  assert.deepEqual(seen, [
    ['SELECT * FROM t', 2, 4, 0],
    ['SELECT missing FROM t', 1, 0, 1],
  ])
  const [histogram] = await factsUntil(client, 'histogram', (all) => all.length === 1)
  assert.equal(
    histogram.reads.reduce((sum, number) => sum + number, 0),
    3,
  )
})

// G373
test('nothing is sampled before anybody looks', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  await serve(t, db)
  const { channel } = await import('node:diagnostics_channel')
  assert.equal(channel('tracing:resqlite:query:asyncEnd').hasSubscribers, false)
})

test('the status tells the schema, so that a page reads the tables again', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db, { write: true })
  const [before] = await factsUntil(client, 'status', (all) => all.length === 1)
  await db.exec('CREATE TABLE fresh(x)')
  const [after] = await factsUntil(client, 'status', ([status]) => status.schema > before.schema)
  assert.deepEqual([after.write, after.readOnly, after.pid], [true, false, process.pid])
})

// G373
test('sampling goes on after a sample that fails', { timeout: 20_000 }, async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  const printed = t.mock.method(console, 'error', () => {})
  const fails = t.mock.method(db, 'diagnostics', () => Promise.reject(new Error('for a moment')), {
    times: 1,
  })
  await factsUntil(client, 'status', (all) => all.length === 1)
  assert.equal(fails.mock.callCount(), 1)
  assert.match(String(printed.mock.calls[0].arguments[1]), /for a moment/)
})

test('samples that begin anew forget the old ones', async (t) => {
  const { Recorder } = await import('../dist/server/recorder.js')
  const { Sampler } = await import('../dist/server/sampler.js')
  const db = await tempDatabase(t, SCHEMA)
  const recorder = await Recorder.open()
  t.after(() => recorder.close())
  await recorder.put([{ kind: 'sample', id: 99, data: 'old' }])
  const sampler = new Sampler(db, recorder, false)
  for await (const samples of recorder.watch(['sample'])) {
    if (samples.length === 1 && samples[0].data !== '"old"') break
  }
  sampler.stop()
})
