import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from 'resqlite'
import { numbers, seeds, throws } from '../../../scripts/lib/random.mjs'
import { numberText } from '../../cli/dist/core/values.js'
import { cellFrom, misfit, realText, shownText, textOf } from '../dist/cells/cell.js'
import { serve, tempDatabase } from './support/studio.mjs'

/** Random values that the property tries. */
const CASES = throws(100)

const NUMBERS = [
  0,
  -0,
  1,
  -1.5,
  0.1 + 0.2,
  1e15,
  1e16,
  2 ** 53,
  1e20,
  1e21,
  1e-7,
  5e-324,
  1.7976931348623157e308,
]

/** A literal of SQL for a value of any storage class, odd ones often. */
function literal(random) {
  const one = (list) => list[random(list.length)]
  const hex = () =>
    Array.from({ length: random(300) }, () => one(['00', '61', '41', 'ff', 'c3a9', 'efbfbd', '0d0a'])).join(
      '',
    )
  switch (random(5)) {
    case 0:
      return one(['-9223372036854775808', '9223372036854775807', '9007199254740993', '0', `${random(1000)}`])
    case 1:
      return one([
        '9e999',
        '-9e999',
        ...NUMBERS.map(realText),
        `${random(1e6)}.${random(1e6)}e${random(600) - 300}`,
      ])
    case 2:
      return `CAST(x'${hex()}' AS TEXT)`
    case 3:
      return `x'${hex()}'`
    default:
      return one([
        "'12'",
        "'1.0'",
        "''",
        "'a'",
        "'A'",
        "'é'",
        "'a' || char(0) || 'b'",
        "'a' || char(0)",
        "'\ufffd'",
      ])
  }
}

/** The exact content of a value in SQL. */
const exact = (of) =>
  `typeof(${of}) || CASE typeof(${of}) WHEN 'real' THEN printf('%!.26g', ${of}) ELSE hex(CAST(${of} AS BLOB)) END`

test('a REAL is written as the command line writes it', () => {
  for (const number of [...NUMBERS, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    assert.equal(realText(number), numberText(number))
})

test('what is typed is checked, and becomes the cell that will be shown', () => {
  const cells = [
    ['integer', '+007', 'i7'],
    ['integer', '-9223372036854775808', 'i-9223372036854775808'],
    ['real', '1', 'r1.0'],
    ['real', '-.5E0', 'r-0.5'],
    ['real', '9e999', 'r9e999'],
    ['blob', 'ab', 'bAB'],
    ['text', '', 't'],
  ]
  for (const [kind, text, cell] of cells)
    assert.deepEqual([misfit(kind, text), cellFrom(kind, text)], [undefined, cell])
  const long = '1'.repeat(1_000_000)
  const wrong = [
    ['integer', ''],
    ['integer', '9223372036854775808'],
    ['integer', `${long}x`],
    ['real', ''],
    ['real', '0x10'],
    ['real', 'Infinity'],
    ['real', `${long}x`],
    ['blob', 'abc'],
    ['blob', `${long}x`],
  ]
  for (const [kind, text] of wrong) assert.ok(misfit(kind, text), text.slice(0, 20))
})

test('a value is shown by its beginning, and copied as a whole', () => {
  const long = 'y'.repeat(5000)
  assert.equal(shownText(`t${long}`), `${'y'.repeat(200)}…`)
  assert.equal(textOf(`t${long}`), long)
  assert.equal(shownText('r9e999'), '9e999')
  assert.equal(shownText('bAB00'), '2 B  AB 00')
})

// G382
test('any value is the same in the grid, in SQL and after an edit, under any key', async (t) => {
  const [seed] = seeds(1)
  t.diagnostic(`RESQLITE_SEED=${seed}`)
  const random = numbers(seed)
  const db = await tempDatabase(
    t,
    `CREATE TABLE plain(id INTEGER PRIMARY KEY, k, v);
     CREATE TABLE keyed(k, v, PRIMARY KEY (k)) WITHOUT ROWID`,
  )
  const client = await serve(t, db, { write: true })
  for (let id = 1; id <= CASES; id++) {
    await db.exec(`INSERT INTO plain VALUES (${id}, ${literal(random)}, ${literal(random)})`)
  }
  await db.exec('INSERT OR IGNORE INTO keyed SELECT k, v FROM plain')
  const content = async (of) =>
    await db.select(`SELECT ${exact(of)} FROM keyed ORDER BY k`, [], { arrays: true })
  const keys = await content('k')
  const values = await content('v')
  const sql = (await client.ask('query', { sql: 'SELECT v FROM keyed ORDER BY k;' })).body.rows
  const asked = { schema: 'main', table: 'keyed' }
  const rows = await client.window('keyed')
  assert.equal(rows.length, Math.min(300, keys.length))
  for (const [at, row] of rows.entries()) {
    const key = [cellOfSent(row.k0)]
    const [found] = await client.window('keyed', key)
    assert.deepEqual(found, row)
    const { body } = await client.ask('value', { ...asked, key, column: 'v' })
    assert.equal(body.cell, sql[at][0])
    const old = body.cell
    const edit = (set, before) => ({ ...asked, kind: 'update', key, set: { v: set }, old: { v: before } })
    const wrote = await client.ask('edits', { edits: [edit('tchanged', old), edit(old, 'tchanged')] })
    // Text that is no UTF-8 was not shown as it is, so it cannot be told whether it changed.
    if (wrote.status !== 200) assert.match(`${old} ${wrote.body.message}`, /\ufffd.*not UTF-8/s)
  }
  assert.deepEqual(await content('k'), keys)
  assert.deepEqual(await content('v'), values)
})

/** As the page makes it of what is sent. */
function cellOfSent(sent) {
  return typeof sent === 'number' ? `r${realText(sent)}` : sent
}

// G382
test('SQL tells INTEGER and REAL apart, however the database gives integers', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE r(v REAL, n); INSERT INTO r VALUES (1, 1.0), (2, 2)')
  const row = ['r1.0', 'r-0.0', 'r100000000000000000000.0', 'r-9e999', 'i1', 'i9007199254740993', 't1', 'i1']
  for (const integers of ['auto', 'number', 'bigint']) {
    const opened = await Database.open(db.path, { integers })
    t.after(() => opened.close())
    const client = await serve(t, opened, { write: true })
    for (const end of ['', ';', '; -- end', ' -- end; end']) {
      const sql = `SELECT 1.0, -0.0, 1e20, -9e999, 1, 9007199254740993, '1', 1 AS "1"${end}`
      assert.deepEqual((await client.ask('query', { sql })).body.rows, [row], `${integers} ${sql}`)
    }
    const query = async (sql) => (await client.ask('query', { sql })).body.rows
    assert.deepEqual(await query('SELECT v, n FROM r ORDER BY v DESC'), [
      ['r2.0', 'i2'],
      ['r1.0', 'r1.0'],
    ])
    assert.deepEqual(await query('WITH "studio result" AS (SELECT 1.0) SELECT * FROM "studio result"'), [
      ['r1.0'],
    ])
    assert.deepEqual(await query('VALUES (1.0), (2)'), [['r1.0'], ['i2']])
    assert.deepEqual(await query('PRAGMA user_version'), [['i0']])
    assert.equal((await query('SELECT random() AS a, 1 AS b')).length, 1)
    const { body } = await client.ask('explain', { sql: 'SELECT * FROM r' })
    assert.equal(body.plan[0].detail, 'SCAN r')
    assert.deepEqual((await client.ask('count', { schema: 'main', table: 'r' })).body, {
      rows: 2,
      exact: true,
    })
    const { body: tables } = await client.ask('catalog')
    assert.deepEqual(tables[0].columns[0], {
      name: 'v',
      type: 'REAL',
      notNull: false,
      primary: 0,
      generated: false,
    })
    const [status] = await client.rowsUntil('facts', { kind: 'status' }, (rows) => rows.length > 0)
    assert.ok(JSON.parse(status.data).schema > 0)
  }
})

test('with bigints, what a statement that writes returns is exact, too', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE r(v)')
  const opened = await Database.open(db.path, { integers: 'bigint' })
  t.after(() => opened.close())
  const client = await serve(t, opened, { write: true })
  const { body } = await client.ask('query', { sql: 'INSERT INTO r VALUES (1.0), (1) RETURNING v' })
  assert.deepEqual(body.rows, [['r1.0'], ['i1']])
})
