import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA = `
  CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, n, "__proto__" TEXT, "constructor" TEXT);
  INSERT INTO t(id, a, n) VALUES (1, 'one', 1), (2, 'two', 1.0);
  CREATE TABLE cased(k TEXT COLLATE NOCASE, v, PRIMARY KEY (k COLLATE BINARY)) WITHOUT ROWID;
  INSERT INTO cased VALUES ('a', 1), ('A', 2), ('b', 3);
  CREATE TABLE kept(k INTEGER PRIMARY KEY ON CONFLICT REPLACE, v);
  INSERT INTO kept VALUES (1, 'one'), (2, 'two');
  CREATE TABLE guarded(id INTEGER PRIMARY KEY, v);
  CREATE TRIGGER guard BEFORE UPDATE ON guarded BEGIN SELECT RAISE(IGNORE); END;
  INSERT INTO guarded VALUES (1, 'one');
`

async function open(t) {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db, { write: true })
  const commit = async (...edits) =>
    await client.ask('edits', { edits: edits.map((edit) => ({ schema: 'main', table: 't', ...edit })) })
  return { db, client, commit }
}

const update = (key, set, old, table = 't') => ({ table, kind: 'update', key, set, old })

// G381
test('an edit of a cell that somebody has changed is refused, and both values are told', async (t) => {
  const { db, commit } = await open(t)
  const changes = [
    ["a = 'ONE'", { a: ['tone', 'tONE'] }],
    ['a = NULL', { a: ['tone', null] }],
    ['n = 1.0', { n: ['i1', 'r1.0'] }],
    ["n = '1'", { n: ['i1', 't1'] }],
    ["n = x'31'", { n: ['i1', 'b31'] }],
  ]
  for (const [change, conflict] of changes) {
    await db.exec(`UPDATE t SET a = 'one', n = 1 WHERE id = 1; UPDATE t SET ${change} WHERE id = 1`)
    const [[column, [old, now]]] = Object.entries(conflict)
    const edits = [
      update(['i2'], { a: 'tTWO' }, { a: 'ttwo' }),
      update(['i1'], { [column]: 'tmine' }, { [column]: old }),
    ]
    const { status, body } = await commit(...edits)
    assert.deepEqual([status, body.index, body.conflicts], [409, 1, { [column]: { old, now } }])
    assert.match(body.message, /somebody has changed the row: [an] was .+ and is /)
    assert.equal((await commit(update(['i1'], { [column]: 'tmine' }, { [column]: now }))).status, 200)
  }
  assert.deepEqual(await db.selectOne('SELECT a FROM t WHERE id = 2'), { a: 'two' })
})

// G381
test('a change of another cell of the row is no conflict of an update, but of a deletion', async (t) => {
  const { db, commit } = await open(t)
  const long = 'y'.repeat(5000)
  await db.execute('UPDATE t SET n = ? WHERE id = 1', [long])
  assert.equal((await commit(update(['i1'], { a: 'tmine' }, { a: 'tone' }))).status, 200)
  const gone = (n) => ({ kind: 'delete', key: ['i1'], old: { id: 'i1', a: 'tmine', n } })
  const refused = await commit(gone(`T4999:${long.slice(0, 200)}`))
  assert.deepEqual([refused.status, Object.keys(refused.body.conflicts)], [409, ['n']])
  assert.equal((await commit(gone(`T5000:${long.slice(0, 200)}`))).status, 200)
  const { status, body } = await commit(update(['i1'], { a: 't' }, { a: 'tmine' }))
  assert.deepEqual([status, body.message], [409, 'the row is not there any more'])
})

test('a row of very many columns is deleted, if it is as it was shown', async (t) => {
  const { db, commit } = await open(t)
  const names = Array.from({ length: 1100 }, (_, n) => `c${n}`)
  await db.exec(
    `CREATE TABLE wide(id INTEGER PRIMARY KEY, ${names}); INSERT INTO wide(id, c7) VALUES (1, 2.5)`,
  )
  const old = { id: 'i1', ...Object.fromEntries(names.map((name) => [name, null])) }
  const edit = { table: 'wide', kind: 'delete', key: ['i1'] }
  const refused = await commit({ ...edit, old })
  assert.deepEqual(refused.body.conflicts, { c7: { old: null, now: 'r2.5' } })
  assert.equal((await commit({ ...edit, old: { ...old, c7: 'r2.5' } })).status, 200)
})

test('an edit that a trigger ignores says so', async (t) => {
  const { commit } = await open(t)
  const { status, body } = await commit(update(['i1'], { v: 'tx' }, { v: 'tone' }, 'guarded'))
  assert.equal(status, 409)
  assert.match(body.message, /a trigger has ignored it/)
})

// G381
test('an edit replaces no other row, whatever the constraints of the table say', async (t) => {
  const { db, commit } = await open(t)
  const refused = [
    { table: 'kept', kind: 'insert', set: { k: 'i1', v: 'tnew' } },
    update(['i2'], { k: 'i1' }, { k: 'i2' }, 'kept'),
  ]
  for (const edit of refused) assert.equal((await commit(edit)).body.code, 'SQLITE_CONSTRAINT_PRIMARYKEY')
  assert.equal((await db.select('SELECT * FROM kept')).length, 2)
})

test('rows are told apart as the index of their key does it, not as the column would', async (t) => {
  const { db, client, commit } = await open(t)
  const { body } = await client.ask('seek', { schema: 'main', table: 'cased', back: 5, key: ['ta'] })
  assert.deepEqual(body, { from: ['tA'], before: 1 })
  assert.deepEqual(
    (await client.window('cased', ['ta'])).map(({ k0 }) => k0),
    ['ta', 'tb'],
  )
  assert.equal((await commit(update(['ta'], { v: 'i9' }, { v: 'i1' }, 'cased'))).status, 200)
  assert.deepEqual(await db.select('SELECT k, v FROM cased', [], { arrays: true }), [
    ['A', 2],
    ['a', 9],
    ['b', 3],
  ])
})

test('a column may have the name of something that every object of JavaScript has', async (t) => {
  const { db, commit } = await open(t)
  for (const name of ['__proto__', 'constructor']) {
    const edit = JSON.parse(
      `{ "kind": "update", "key": ["i1"], "set": { "${name}": "tx" }, "old": { "${name}": null } }`,
    )
    assert.equal((await commit(edit)).status, 200)
  }
  const [row] = await db.select('SELECT "__proto__", "constructor" FROM t WHERE id = 1', [], { arrays: true })
  assert.deepEqual(row, ['x', 'x'])
})

test('a value of a view is found by its beginning, unless several begin so', async (t) => {
  const { db, client } = await open(t)
  const values = ['x'.repeat(5000), `${'y'.repeat(5000)}1`, `${'y'.repeat(5000)}2`]
  await db.exec('CREATE TABLE long(v); CREATE VIEW seen AS SELECT v FROM long')
  await db.executeBatch(
    'INSERT INTO long VALUES (?)',
    values.map((value) => [value]),
  )
  const ask = async ({ c0 }) =>
    await client.ask('value', { schema: 'main', table: 'seen', column: 'v', cell: c0, copied: true })
  const rows = await client.window('seen')
  assert.equal((await ask(rows[0])).body.cell, `t${values[0]}`)
  assert.equal((await ask(rows[1])).status, 409)
})

// G383
test('a value is copied as a whole, and read in the panel up to a million characters', async (t) => {
  const { db, client } = await open(t)
  await db.execute('UPDATE t SET a = ? WHERE id = 1', ['y'.repeat(1_200_000)])
  const asked = { schema: 'main', table: 't', key: ['i1'], column: 'a' }
  const copied = await client.ask('value', { ...asked, copied: true })
  assert.equal(copied.body.cell.length, 1_200_001)
  const read = await client.ask('value', asked)
  assert.match(read.body.cell, /^T1200000:y{1000000}$/)
})
