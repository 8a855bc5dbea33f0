import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ChangedKey, ChangedRow, ChangeEvent, Database, OpenOptions, Row, UnlistedRows } from 'resqlite'
import { withCode } from './support/errors'
import { random, throws } from './support/random'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE plain(id INTEGER PRIMARY KEY, v, w UNIQUE);
  CREATE TABLE free(v, w);
  CREATE TABLE named(k TEXT PRIMARY KEY, v);
  CREATE TABLE pair(a, b, v, PRIMARY KEY(b, a)) WITHOUT ROWID;
  CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES plain ON DELETE CASCADE);
  CREATE TRIGGER copy AFTER INSERT ON plain BEGIN
    INSERT OR REPLACE INTO pair VALUES (new.id % 3, new.v, new.w);
  END`

const KEYS: Record<string, string[]> = {
  plain: ['id'],
  free: ['rowid'],
  named: ['k'],
  pair: ['b', 'a'],
  child: ['id'],
}

type Mirror = Map<string, Row>

/** A key as a text. */
function keyOf(key: Row): string {
  const texts = Object.entries(key).map(([name, value]) =>
    value instanceof Uint8Array ? `${name}: blob ${value}` : `${name}: ${typeof value} ${value}`,
  )
  return `${texts}`
}

async function load(db: Database, table: string): Promise<Mirror> {
  const keys = KEYS[table] as string[]
  const rowid = table === 'pair' ? 'a' : 'rowid'
  const from = `FROM ${table} ORDER BY ${keys}, ${rowid}`
  const named = await db.select(`SELECT ${keys} ${from}`)
  const rowids = await db.select(`SELECT ${rowid} AS rowid ${from}`)
  const rows = await db.select(`SELECT * ${from}`)
  const key = (i: number) => (Object.values(named[i] as Row).includes(null) ? rowids[i] : named[i]) as Row
  return new Map(rows.map((row, i) => [keyOf(key(i)), row]))
}

/**
 * Applies an event to the mirrors of all tables, and returns the tables that must be loaded again. What is loaded may be
 * newer than the event, and than the next: to apply those all the same does no harm.
 */
function apply(mirrors: Map<string, Mirror>, { tables, schemaChanged }: ChangeEvent): string[] {
  if (tables === null || schemaChanged) return [...mirrors.keys()]
  const unlisted = tables.filter(({ rows }) => typeof rows === 'string')
  for (const { table, rows } of tables) {
    const mirror = mirrors.get(table) as Mirror
    if (typeof rows === 'string') continue
    for (const { key, new: row } of rows) {
      const name = keyOf(key)
      if (row === null) mirror.delete(name)
      else mirror.set(name, row)
    }
  }
  return unlisted.map(({ table }) => table)
}

// G256
test('a mirror that applies the events equals the tables', async (t) => {
  const { seed, int, pick } = random()
  t.diagnostic(`RESQLITE_SEED=${seed}`)
  const db = await tempDatabase(t, SCHEMA)
  const value = () =>
    pick(['NULL', "x'00ff'", '9223372036854775807', '1.5', "'ä'", "''", '1', '2', '3', '-0.0'])
  const statement = () =>
    pick([
      () => `INSERT INTO plain(v, w) VALUES (${value()}, ${value()})`,
      () => `INSERT OR REPLACE INTO plain VALUES (${int(6)}, ${value()}, ${value()})`,
      () => `UPDATE OR REPLACE plain SET id = ${int(6)}, w = ${value()} WHERE id = ${int(6)}`,
      () => `DELETE FROM plain WHERE id = ${int(6)}`,
      () => `INSERT INTO free VALUES (${value()}, ${value()})`,
      () => `UPDATE free SET v = ${value()}, rowid = ${int(6)} WHERE rowid = ${int(6)}`,
      () => `DELETE FROM free WHERE v IS ${value()}`,
      () =>
        `INSERT INTO named VALUES (${value()}, ${value()}) ON CONFLICT DO UPDATE SET v = excluded.v, k = excluded.v`,
      () => `INSERT OR REPLACE INTO pair VALUES (${int(3)}, ${value()}, ${value()})`,
      () => `UPDATE OR REPLACE pair SET a = ${int(3)} WHERE a = ${int(3)}`,
      () => `INSERT INTO child(parent) SELECT id FROM plain WHERE id > ${int(6)}`,
      () => 'DELETE FROM pair',
    ])()
  const commit = async () => {
    if (int(30) === 0)
      return void (await db.exec(
        pick(['VACUUM', 'DROP INDEX IF EXISTS i', 'CREATE INDEX IF NOT EXISTS i ON free(v)']),
      ))
    const run = (on: { execute: Database['execute'] }) => on.execute(statement()).catch(() => {})
    await db.transaction(async (tx) => {
      for (let i = int(3); i >= 0; i--) await run(tx)
      const nested = tx.transaction(async (inner) => {
        await run(inner)
        if (int(2) === 0) throw new Error('undone')
      })
      await nested.catch(() => {})
    })
  }
  const mirrors = new Map<string, Mirror>()
  for (const table of Object.keys(KEYS)) mirrors.set(table, await load(db, table))
  const events = db.commits({ detail: 'rows' })
  let next = events.next()
  let [seen, listed] = [(await db.execute('INSERT INTO free VALUES (0, 0)')).commit - 1, 0]
  const rounds = 20 + throws(80)
  for (let round = 0; round < rounds; round++) {
    for (let i = int(3); i >= 0; i--) await commit()
    const { commit: last } = await db.execute('INSERT INTO free VALUES (0, 0)')
    while (seen < last) {
      const { value: event } = await next
      next = events.next()
      seen = event.to
      const again = apply(mirrors, event)
      listed += mirrors.size - again.length
      for (const table of again) mirrors.set(table, await load(db, table))
    }
    for (const [table, mirror] of mirrors)
      assert.deepEqual(mirror, await load(db, table), `${table}, seed ${seed}`)
  }
  assert.ok(listed > rounds)
  await events.return()
})

/** Listens, runs SQL in one transaction, and returns the changes that it caused to the only table. */
async function rowsOf(db: Database, ...statements: string[]): Promise<ChangedRow[] | UnlistedRows> {
  const events = db.commits({ detail: 'rows' })
  const next = events.next()
  await db.batch(statements)
  const { tables } = (await next).value as ChangeEvent
  await events.return()
  assert.equal(tables?.length, 1)
  return tables?.[0]?.rows as ChangedRow[]
}

// G256
test('an event tells the rows before and after', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY, v)')
  assert.deepEqual(await rowsOf(db, "INSERT INTO t VALUES (1, 'a'), (2, 'b')"), [
    { operation: 'insert', key: { id: 1 }, old: null, new: { id: 1, v: 'a' } },
    { operation: 'insert', key: { id: 2 }, old: null, new: { id: 2, v: 'b' } },
  ])
  assert.deepEqual(await rowsOf(db, "UPDATE t SET v = 'c' WHERE id = 1", 'UPDATE t SET v = v'), [
    { operation: 'update', key: { id: 1 }, old: { id: 1, v: 'a' }, new: { id: 1, v: 'c' } },
  ])
  assert.deepEqual(await rowsOf(db, "REPLACE INTO t VALUES (1, 'd')"), [
    { operation: 'update', key: { id: 1 }, old: { id: 1, v: 'c' }, new: { id: 1, v: 'd' } },
  ])
  assert.deepEqual(await rowsOf(db, 'UPDATE t SET id = 3 WHERE id = 2'), [
    { operation: 'delete', key: { id: 2 }, old: { id: 2, v: 'b' }, new: null },
    { operation: 'insert', key: { id: 3 }, old: null, new: { id: 3, v: 'b' } },
  ])
  assert.deepEqual(await rowsOf(db, 'DELETE FROM t'), [
    { operation: 'delete', key: { id: 1 }, old: { id: 1, v: 'd' }, new: null },
    { operation: 'delete', key: { id: 3 }, old: { id: 3, v: 'b' }, new: null },
  ])
  assert.deepEqual(await rowsOf(db, 'INSERT INTO t VALUES (1, 1)', 'DELETE FROM t'), [])
})

// G256
test('a copy that is read between commits that undo each other equals the table', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(k TEXT PRIMARY KEY, v)')
  for (const detail of ['rows', 'keys'] as const) {
    await db.exec("DELETE FROM t; INSERT INTO t VALUES ('old', 1)")
    const events = db.commits({ detail } as { detail: 'rows' })
    const first = events.next()
    await db.exec('VACUUM')
    assert.equal((await first).value.tables, null)
    await db.batch(["INSERT INTO t VALUES ('new', 1)", 'UPDATE t SET v = 2'])
    const copy = new Map((await db.select('SELECT * FROM t')).map((row) => [row.k, row]))
    await db.batch(["DELETE FROM t WHERE k = 'new'", 'UPDATE t SET v = 1'])
    const { tables } = (await events.next()).value as ChangeEvent
    const told = tables?.[0]?.rows as ChangedRow[]
    for (const { operation, key, new: row } of told) {
      if (operation === 'delete') copy.delete(key.k as string)
      else copy.set(key.k as string, row ?? ((await db.selectOne('SELECT * FROM t')) as Row))
    }
    assert.deepEqual([...copy.values()], await db.select('SELECT * FROM t'), detail)
    await events.return()
  }
})

// G256
test('keys come without rows', async (t) => {
  const db = await tempDatabase(
    t,
    'CREATE TABLE t(a, b, v, PRIMARY KEY(b, a)) WITHOUT ROWID; CREATE TABLE u(v)',
  )
  const events = db.commits({ detail: 'keys' })
  const next = events.next()
  await db.batch(["INSERT INTO t VALUES (1, 'x', 2)", 'INSERT INTO u VALUES (7)'])
  const { tables } = (await next).value as ChangeEvent<ChangedKey>
  assert.deepEqual(
    tables?.map(({ rows }) => rows),
    [[{ operation: 'insert', key: { b: 'x', a: 1 } }], [{ operation: 'insert', key: { rowid: 1 } }]],
  )
  await events.return()
})

async function valuesOf(t: TestContext, options?: OpenOptions): Promise<unknown> {
  const db = await tempDatabase(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY, v)', options)
  const values =
    "(1), (9007199254740993), (-9e999), (-0.0), (x'00ff'), ('a' || char(0) || '😀'), (NULL), (1.5), (x'')"
  const changes = await rowsOf(db, `INSERT INTO t(v) VALUES ${values}`)
  assert.deepEqual(
    (changes as ChangedRow[]).map((change) => change.new),
    await db.select('SELECT * FROM t'),
  )
  return (changes as ChangedRow[])[1]?.new?.v
}

// G256
test('values are those that select returns', async (t) => {
  assert.equal(await valuesOf(t), 9007199254740993n)
  assert.equal(await valuesOf(t, { integers: 'bigint' }), 9007199254740993n)
})

test('a column of any name keeps its value', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t("__proto__" PRIMARY KEY, "a ""b""")')
  const [change] = (await rowsOf(db, "INSERT INTO t VALUES (x'07', 2)")) as ChangedRow[]
  assert.deepEqual(Object.entries(change?.new as Row), [
    ['__proto__', Buffer.from([7])],
    ['a "b"', 2],
  ])
})

// G317
test('a row whose key has a NULL is told by its rowid', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE n(k PRIMARY KEY)')
  assert.deepEqual(await rowsOf(db, 'INSERT INTO n VALUES (NULL)'), [
    { operation: 'insert', key: { rowid: 1 }, old: null, new: { k: null } },
  ])
})

// G258
test('a callback gets rows, and one that does not ask for them gets none', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE t(id INTEGER PRIMARY KEY)')
  const told = (detail: 'tables' | 'rows' | undefined) =>
    new Promise<unknown>((resolve) => {
      const stop = db.onCommit(
        ({ tables }) => {
          stop()
          resolve(tables?.[0])
        },
        { detail } as { detail: 'rows' },
      )
    })
  const all = [told('rows'), told('tables'), told(undefined)]
  await db.execute('INSERT INTO t VALUES (1)')
  const counts = { schema: 'main', table: 't', inserted: 1, updated: 0, deleted: 0 }
  const rows = [{ operation: 'insert', key: { id: 1 }, old: null, new: { id: 1 } }]
  assert.deepEqual(await Promise.all(all), [{ ...counts, rows }, counts, counts])
})

// G257
test('rows that are not listed have a reason', async (t) => {
  const db = await tempDatabase(
    t,
    'CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE n(rowid, oid, _rowid_); CREATE VIRTUAL TABLE f USING fts5(x)',
  )
  assert.equal(await rowsOf(db, 'INSERT INTO n VALUES (1, 2, 3)'), 'key')
  assert.equal(await rowsOf(db, "INSERT INTO f VALUES ('a')"), 'unknown')
  assert.equal(await rowsOf(db, 'INSERT INTO t SELECT value, 1 FROM generate_series(1, 16385)'), 'many')
  assert.equal(await rowsOf(db, 'CREATE INDEX i ON t(v)', 'UPDATE t SET v = 2 WHERE id = 1'), 'schema')
})

test('a wrong value of the option is refused', async (t) => {
  const db = await tempDatabase(t)
  assert.throws(
    () => db.commits({ detail: 'all' as never }),
    withCode('RESQLITE_OPTION', "one of 'tables', 'keys', 'rows'"),
  )
  assert.throws(() => db.onCommit(() => {}, { detail: 1 as never }), withCode('RESQLITE_OPTION', 'detail'))
})
