import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openStudio } from '../dist/server/index.js'
import { serve, tempDatabase } from './support/studio.mjs'

const HOSTILE = `we"ird'; DROP TABLE t; -- <b>`
const SCHEMA = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB, c REAL, d);
  CREATE TABLE pairs(x TEXT, y INTEGER, z, PRIMARY KEY (x, y)) WITHOUT ROWID;
  CREATE TABLE plain(rowid TEXT, v);
  CREATE TABLE falling(id INTEGER PRIMARY KEY DESC);
  CREATE TABLE "${HOSTILE.replaceAll('"', '""')}"("<i>" TEXT, "__proto__" INTEGER);
  CREATE VIEW seen AS SELECT a FROM t;
  CREATE VIEW broken AS SELECT x FROM gone;
  CREATE VIRTUAL TABLE words USING fts5(body);
  INSERT INTO t VALUES (1, 'one', x'00ff', 1.0, 9007199254740993), (2, NULL, NULL, -0.5, '');
  INSERT INTO pairs VALUES ('a', 1, 0), ('a', 2, 0), ('b', 1, 0);
  INSERT INTO plain VALUES ('x', 1);
`
const MANY = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)`

test('the catalog has tables, views and virtual tables, with their keys', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const { body } = await client.ask('catalog')
  assert.deepEqual(
    body.map(({ name, kind, key, numeric }) => [name, kind, key, numeric]),
    [
      ['broken', 'view', [], false],
      ['falling', 'table', ['rowid'], true],
      ['pairs', 'table', ['x', 'y'], false],
      ['plain', 'table', ['_rowid_'], true],
      ['seen', 'view', [], false],
      ['t', 'table', ['id'], true],
      [HOSTILE, 'table', ['rowid'], true],
      ['words', 'virtual', [], false],
    ],
  )
})

test('cells tell storage classes apart, and integers keep their digits', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  assert.deepEqual(await client.window('t'), [
    { k0: 'i1', c0: 'i1', c1: 'tone', c2: 'b00FF', c3: 1, c4: 'i9007199254740993' },
    { k0: 'i2', c0: 'i2', c1: null, c2: null, c3: -0.5, c4: 't' },
  ])
})

test('long values are cut off in a grid, and sent as a whole on demand', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await db.execute('INSERT INTO t VALUES (3, ?, ?, 0, 0)', ['y'.repeat(100_000), Buffer.alloc(100_000, 7)])
  const row = (await client.window('t', ['i3']))[0]
  assert.deepEqual([row.c1, row.c2], [`T100000:${'y'.repeat(200)}`, `B100000:${'07'.repeat(24)}`])
  const { body } = await client.ask('value', { schema: 'main', table: 't', key: ['i3'], column: 'a' })
  assert.equal(body.cell, `t${'y'.repeat(100_000)}`)
})

test('a text that begins with the character 0 is cut off, too', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await db.execute('INSERT INTO t(id, a) VALUES (3, ?)', [`\0${'y'.repeat(1_000_000)}`])
  const [row] = await client.window('t', ['i3'])
  assert.ok(row.c1.length < 300)
})

// G369
test('names are quoted, whatever they are', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await db.execute(`INSERT INTO "${HOSTILE.replaceAll('"', '""')}" VALUES ('v', 5)`)
  assert.deepEqual(await client.window(HOSTILE), [{ k0: 'i1', c0: 'tv', c1: 'i5' }])
  for (const table of ['t; DROP TABLE t', 't"', 'sqlite_schema', 'T ', '']) {
    const { status } = await client.ask('count', { schema: 'main', table })
    assert.equal(status, 404, table)
  }
  assert.equal((await client.ask('count', { schema: 'main"; --', table: 't' })).status, 404)
})

// G369
test('a filter is an expression, and can end nothing but itself', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const rows = await client.window('t', null, { filter: "a = 'one' -- a comment" })
  assert.deepEqual(
    rows.map(({ k0 }) => k0),
    ['i1'],
  )
  const others = [
    '1; DELETE FROM t',
    '1;',
    'a =',
    'zero',
    ')',
    'SELECT 1',
    '1, 2',
    '1 /*',
    "'",
    '1 AS x',
    '1\0',
  ]
  const ends = [
    '1) UNION SELECT 1 --',
    '1) /*',
    '1) OR (1',
    '1) GROUP BY (1',
    '1) LIMIT (1',
    '1 -- \n) OR (1',
  ]
  const cases = ['1 THEN 1 END FROM t /*', '1 THEN 1 END, CASE WHEN 1', '1) THEN 1 END, (CASE WHEN 1']
  for (const filter of [...others, ...ends, ...cases]) {
    const body = { schema: 'main', table: 't', filter }
    assert.equal((await client.ask('count', body)).status, 422, filter)
    assert.equal((await client.ask('seek', { ...body, back: 5, key: ['i2'] })).status, 422, filter)
    const window = encodeURIComponent(JSON.stringify({ ...body, from: null }))
    assert.equal((await client.send('GET', `/live/rows?window=${window}`)).status, 422, filter)
  }
})

test('a filter that is no condition says what is wrong with it, and where', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const refused = async (filter) => (await client.ask('count', { schema: 'main', table: 't', filter })).body
  const early = await refused('a =')
  assert.equal(early.message, 'the filter is no condition in SQL, such as a = 1: it ends too early')
  const misspelt = await refused('id = 1 AND zero = 1')
  assert.match(misspelt.message, /no such column: zero/)
  assert.deepEqual([misspelt.code, misspelt.offset], ['SQLITE_ERROR', 'id = 1 AND '.length])
})

test('the columns of a view are told when it is opened, and why there are none', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const columns = async (table) => (await client.ask('table', { schema: 'main', table })).body
  assert.deepEqual(
    (await columns('seen')).columns.map(({ name }) => name),
    ['a'],
  )
  assert.match((await columns('broken')).message, /no such table: main.gone/)
})

test('of a virtual table, the tables that keep its content are not listed, but others of such names are', async (t) => {
  const schema =
    'CREATE VIRTUAL TABLE words USING fts5(body); CREATE TABLE words_node(x); CREATE TABLE t_data(x)'
  const client = await serve(t, await tempDatabase(t, schema))
  const { body } = await client.ask('catalog')
  assert.deepEqual(
    body.map(({ name }) => name),
    ['t_data', 'words', 'words_node'],
  )
})

// G384
test('views that read each other twice keep the catalog from nothing', async (t) => {
  const views = Array.from(
    { length: 40 },
    (_, i) => `CREATE VIEW v${i + 1} AS SELECT x.a FROM v${i} AS x, v${i} AS y`,
  )
  const db = await tempDatabase(t, `CREATE TABLE t(a); CREATE VIEW v0 AS SELECT a FROM t; ${views.join(';')}`)
  const client = await serve(t, db)
  assert.equal((await client.ask('catalog')).body.length, 42)
  assert.equal((await client.ask('count', { schema: 'main', table: 't' })).status, 200)
})

// G369
test('a filter may have strings, names, comments and expressions with parentheses', async (t) => {
  const client = await serve(
    t,
    await tempDatabase(t, `${SCHEMA}; CREATE TABLE odd(id INTEGER PRIMARY KEY, ")/*;" TEXT)`),
  )
  for (const filter of [
    "a <> ') /* ; --'",
    'id /* ) ; */ = 1',
    '(id IN (SELECT 1))',
    'CASE WHEN id = 1 THEN 1 END',
    '1 --)',
  ]) {
    const { body } = await client.ask('count', { schema: 'main', table: 't', filter })
    assert.ok(body.rows > 0, filter)
  }
  assert.deepEqual((await client.ask('count', { schema: 'main', table: 'odd', filter: '")/*;" = 1' })).body, {
    rows: 0,
    exact: true,
  })
  const found = await client.ask('count', { schema: 'main', table: 'words', filter: "words MATCH 'x'" })
  assert.deepEqual(found.body, { rows: 0, exact: true })
})

// G378
test('rows that take too long to find are refused', async (t) => {
  const endless =
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS c FROM n'
  const db = await tempDatabase(t, `${SCHEMA}; CREATE VIEW endless AS ${endless}`)
  const client = await serve(t, db, {}, { statement: 50, grace: 600_000 })
  const windows = [
    { schema: 'main', table: 't', from: null, filter: `id < (${endless})` },
    { schema: 'main', table: 'endless', from: null },
  ]
  const answers = await Promise.all(
    windows.map((window) =>
      client.send('GET', `/live/rows?window=${encodeURIComponent(JSON.stringify(window))}`),
    ),
  )
  for (const { status, text } of answers) {
    assert.equal(status, 403)
    assert.match(text, /longer than 0.05 seconds|too long/)
  }
})

test('views and virtual tables show their first rows', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  assert.deepEqual(await client.window('seen'), [
    { k0: 1, c0: 'tone' },
    { k0: 2, c0: null },
  ])
  await db.execute("INSERT INTO words VALUES ('hello')")
  assert.equal((await client.window('words'))[0].c0, 'thello')
})

// G374
test('a window of a wide table is bounded: its cells show less', async (t) => {
  const names = Array.from({ length: 100 }, (_, n) => `c${n}`)
  const db = await tempDatabase(t, `CREATE TABLE wide(id INTEGER PRIMARY KEY, ${names.join(', ')})`)
  const client = await serve(t, db)
  // The largest characters, in a tenth of the rows that a window may have.
  const values = names.map(() => "printf('%.*c', 300, '😀')").join(', ')
  await db.exec(`${MANY} INSERT INTO wide SELECT i, ${values} FROM n LIMIT 30`)
  const rows = await client.window('wide')
  const bytes = Buffer.byteLength(JSON.stringify(rows))
  assert.ok(bytes < 1.7 * 1024 * 1024, `${bytes} bytes`)
  assert.deepEqual([rows.length, rows[0].c1], [30, `T300:${'😀'.repeat(134)}`])
})

// G375
test('a window can be in the order of a column: the first rows, and of equal ones those with the least key', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await db.exec(`${MANY} INSERT INTO t SELECT i + 10, i % 7, NULL, 0, 0 FROM n`)
  const sorted = async (table, column, descending, more) =>
    (await client.window(table, null, { sort: { column, descending }, ...more })).map(({ k0 }) => k0)
  assert.deepEqual((await sorted('t', 'a', false)).slice(0, 3), ['i2', 'i17', 'i24'])
  assert.deepEqual((await sorted('t', 'a', true, { filter: 'id > 2' })).slice(0, 3), ['i16', 'i23', 'i30'])
  assert.equal((await sorted('t', 'a', true)).length, 1000)
  assert.deepEqual(await sorted('pairs', 'y', true), ['ta', 'ta', 'tb'])
  const [first] = await client.window('seen', null, { sort: { column: 'a', descending: true } })
  assert.deepEqual(first, { k0: 1, c0: 'tone' })
  for (const column of ['nothing', 'a" DESC --', '', null]) {
    const body = { schema: 'main', table: 't', sort: { column } }
    assert.equal((await client.ask('count', body)).status, 400, column)
  }
})

test('a window begins at a key, and a place before a row is found by keys', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await db.exec(`${MANY} INSERT INTO t SELECT i * 10, i, NULL, 0, 0 FROM n`)
  const rows = await client.window('t', ['i40000'])
  assert.deepEqual([rows.length, rows[0].k0], [300, 'i40000'])
  const seek = async (target) =>
    (await client.ask('seek', { schema: 'main', table: 't', back: 5, ...target })).body
  assert.deepEqual(await seek({ key: ['i40000'] }), { from: ['i39950'], before: 5 })
  assert.deepEqual(await seek({ key: ['i2'] }), { from: ['i1'], before: 1 })
  assert.deepEqual(await seek({ place: 0 }), { from: ['i1'], before: 0 })
  assert.deepEqual(await seek({ place: 0.5 }), { from: ['i24950'], before: 5 })
  assert.deepEqual(await seek({ place: 1 }), { from: ['i49950'], before: 5 })
})

test('places in a table without rowids are found, too', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await db.exec(`${MANY} INSERT INTO pairs SELECT printf('k%06d', i), i % 3, 0 FROM n`)
  const { body } = await client.ask('seek', { schema: 'main', table: 'pairs', back: 2, place: 0.5 })
  assert.deepEqual([body.before, body.from[0] > 'tk001000', body.from[0] < 'tk004000'], [2, true, true])
  const [first] = await client.window('pairs', body.from)
  assert.deepEqual([first.k0, first.k1], body.from)
})

// G371
test('the end of a table without rowids is its last row', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  await db.exec(`${MANY} INSERT INTO pairs SELECT printf('k%06d', i), i % 3, 0 FROM n`)
  const { body } = await client.ask('seek', { schema: 'main', table: 'pairs', back: 2, place: 1 })
  assert.deepEqual(body, { from: ['tk004998', 'i0'], before: 2 })
})

test('a table without rows has no place', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE bare(id INTEGER PRIMARY KEY)')
  const client = await serve(t, db)
  const { body } = await client.ask('seek', { schema: 'main', table: 'bare', back: 5, place: 0.5 })
  assert.deepEqual(body, { from: null, before: 0 })
  assert.deepEqual((await client.ask('count', { schema: 'main', table: 'bare' })).body, {
    rows: 0,
    exact: true,
  })
})

// G371
test('what moves a grid searches by keys and reads a bounded number of rows', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  const asked = []
  const { subscribe, unsubscribe } = await import('node:diagnostics_channel')
  const note = ({ sql, rows }) => asked.push({ sql, rows })
  subscribe('tracing:resqlite:query:asyncEnd', note)
  t.after(() => unsubscribe('tracing:resqlite:query:asyncEnd', note))
  await db.exec(`${MANY} INSERT INTO t SELECT i + 10, i, NULL, 0, 0 FROM n`)
  for (const target of [{ place: 0.7 }, { key: ['i4000'] }]) {
    await client.ask('seek', { schema: 'main', table: 't', back: 100, ...target })
  }
  const seeks = asked.filter(({ sql }) => / FROM "main"\."t"/.test(sql))
  assert.equal(seeks.length, 3)
  for (const { sql, rows } of seeks) {
    assert.ok(rows <= 100)
    const plan = await db.select(`EXPLAIN QUERY PLAN ${sql.replaceAll('?', '1')}`)
    const steps = plan.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH)/.test(detail))
    assert.ok(!sql.includes('OFFSET'))
    for (const step of steps)
      if (!sql.includes('LIMIT 1)')) assert.match(step, /^SEARCH t USING INTEGER PRIMARY KEY/)
    assert.ok(!plan.some(({ detail }) => detail.includes('TEMP B-TREE')))
  }
})

test('openStudio shows what another process commits, also while nobody else has the file open', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const file = `${db.path}.other`
  const script = fileURLToPath(new URL('./support/write.mjs', import.meta.url))
  const write = async (sql) => {
    const [code] = await once(spawn(process.execPath, [script, file, sql]), 'exit')
    assert.equal(code, 0)
  }
  await write('CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)')
  const { url, close } = await openStudio({ file })
  t.after(close)
  const { origin, hash } = new URL(url)
  const window = encodeURIComponent(JSON.stringify({ schema: 'main', table: 't', from: null }))
  const headers = { authorization: `Bearer ${hash.slice(1)}` }
  const events = (await fetch(`${origin}/live/rows?window=${window}`, { headers })).body
  let text = ''
  const written = write("INSERT INTO t VALUES (1, 'from elsewhere')")
  for await (const chunk of events) {
    text += Buffer.from(chunk).toString()
    if (text.includes('"c1":"tfrom elsewhere"')) break
  }
  await written
})
