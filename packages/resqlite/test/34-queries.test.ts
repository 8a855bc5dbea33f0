import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Database, type Executor, type Queryable, type QueryLike, SqlQuery, sql } from 'resqlite'
import { withCode } from './support/errors'
import { tempDatabase } from './support/temp'

const TABLE =
  "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')"
const TEXT = 'SELECT name FROM t WHERE id = ?'

const queries: Record<string, QueryLike> = {
  '{ sql, params }': { sql: TEXT, params: [2] },
  'the tag sql': sql`SELECT name FROM t WHERE id = ${2}`,
  'a query that compiles, as those of Kysely': { compile: () => ({ sql: TEXT, parameters: [2] }) },
  'a compiled query of Kysely': { sql: TEXT, parameters: [2] } as QueryLike,
  'a query with toSQL, as those of Drizzle': { toSQL: () => ({ sql: TEXT, params: [2] }) },
  'a query with toSQL, as those of Knex': { toSQL: () => ({ sql: TEXT, bindings: [2] }) },
}

const methods: Record<string, (db: Database, query: QueryLike) => Promise<unknown>> = {
  select: (db, query) => db.select(query),
  selectOne: async (db, query) => [await db.selectOne(query)],
  selectBytes: async (db, query) => JSON.parse(Buffer.from(await db.selectBytes(query)).toString()),
  iterate: async (db, query) => [(await db.iterate(query).next()).value],
  stream: async (db, query) => (await db.stream(query)[Symbol.asyncIterator]().next()).value,
  'stream, several': async (db, query) =>
    (await db.stream({ only: query })[Symbol.asyncIterator]().next()).value.only,
  'tx.select': (db, query) => db.transaction((tx) => tx.select(query)),
  'snap.select': (db, query) => db.snapshot((snap) => snap.select(query)),
}

for (const [form, query] of Object.entries(queries)) {
  for (const [method, call] of Object.entries(methods)) {
    test(`${method} takes ${form} in place of SQL and parameters`, async (t) => {
      const db = await tempDatabase(t, TABLE)
      assert.deepEqual(await call(db, query), [{ name: 'b' }])
    })
  }
}

/** Ways to lose a column, and what each does with the columns of a builder's query. */
const losing: Record<string, (db: Database, query: QueryLike) => Promise<unknown>> = {
  ...methods,
  query: (db, query) => db.query(query),
}

const joined = 'SELECT t.id, u.name, u.id FROM t JOIN t AS u ON u.id = t.id + 1 WHERE t.id = ?'
const builders: Record<string, QueryLike> = {
  'a query that compiles': { compile: () => ({ sql: joined, parameters: [1] }) },
  'a compiled query': { sql: joined, parameters: [1] } as QueryLike,
  'a query with toSQL': { toSQL: () => ({ sql: joined, params: [1] }) },
}

for (const [form, query] of Object.entries(builders)) {
  for (const [method, call] of Object.entries(losing)) {
    // G399
    test(`${method} refuses ${form} with two columns of one name`, async (t) => {
      const db = await tempDatabase(t, TABLE)
      await assert.rejects(
        call(db, query),
        withCode('RESQLITE_RESULT', 'columns of the builder\'s query are called "id"'),
      )
    })
  }
}

// G399
test("a builder's query with two columns of one name is refused without rows, too, and goes with rows as arrays", async (t) => {
  const db = await tempDatabase(t, TABLE)
  const query = (id: number) => ({ toSQL: () => ({ sql: joined, params: [id] }) })
  await assert.rejects(db.select(query(9)), withCode('RESQLITE_RESULT'))
  await assert.rejects(db.stream(query(9)).values().next(), withCode('RESQLITE_RESULT'))
  const arrays = { arrays: true } as const
  const rows = [[1, 'b', 2]]
  assert.deepEqual(await db.select(query(1), arrays), rows)
  assert.deepEqual((await db.query(query(1), arrays)).rows, rows)
  assert.deepEqual((await db.iterate(query(1), arrays).next()).value, rows[0])
  assert.deepEqual((await db.stream(query(1), arrays).values().next()).value, rows)
})

// G399
test("SQL of one's own may have two columns of one name: the last one wins", async (t) => {
  const db = await tempDatabase(t, TABLE)
  const rows = [{ id: 2, name: 'b' }]
  assert.deepEqual(await db.select(joined, [1]), rows)
  assert.deepEqual(await db.select({ sql: joined, params: [1] }), rows)
  const own = db.stream(joined, [1]).values()
  assert.deepEqual((await own.next()).value, rows)
  // Beside it, as it is the same SQL.
  const built = db.stream({ toSQL: () => ({ sql: joined, params: [1] }) }).values()
  await assert.rejects(built.next(), withCode('RESQLITE_RESULT'))
  await own.return()
})

// G399
test('a write of a builder is told of, whatever its columns are called', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const insert = {
    toSQL: () => ({ sql: 'INSERT INTO t(name) VALUES (?) RETURNING id, name AS id', params: ['d'] }),
  }
  assert.deepEqual((await db.execute(insert)).rows, [{ id: 'd' }])
  assert.deepEqual((await db.query(insert)).rows, [{ id: 'd' }])
  assert.deepEqual((await db.batch([insert]))[0].rows, [{ id: 'd' }])
})

test('options follow the query', async (t) => {
  const db = await tempDatabase(t, TABLE)
  assert.deepEqual(await db.select(sql`SELECT id, name FROM t WHERE id < ${3}`, { arrays: true }), [
    [1, 'a'],
    [2, 'b'],
  ])
  await assert.rejects(db.select(sql`SELECT 1`, { array: true } as never), withCode('RESQLITE_OPTION'))
})

test('execute and explainStream take a query', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const { rows } = await db.execute<{ id: number }>(sql`INSERT INTO t(name) VALUES (${'d'}) RETURNING id`)
  assert.deepEqual(rows, [{ id: 4 }])
  const { tables } = await db.explainStream(sql`SELECT * FROM t WHERE id = ${2}`)
  assert.deepEqual(tables[0]?.conditions, ['id = 2'])
})

test('what is neither SQL nor a query is refused by name', async (t) => {
  const db = await tempDatabase(t, TABLE)
  for (const wrong of [undefined, null, 7, [], {}, { sql: 7 }, { compile: () => undefined }]) {
    await assert.rejects(db.select(wrong as never), (error: TypeError & { code: string }) => {
      assert.match(error.message, /sql must be a string, or a query/)
      return error.code === 'RESQLITE_STATEMENT'
    })
  }
})

test('a misspelt property of a query is refused by name', async (t) => {
  const db = await tempDatabase(t, TABLE)
  await assert.rejects(db.select({ sql: TEXT, parms: [2] } as never), withCode('RESQLITE_OPTION', '"parms"'))
})

test('an error of a builder reaches the caller', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const failing = {
    compile: (): never => {
      throw new Error('no table')
    },
  }
  await assert.rejects(db.select(failing), /no table/)
})

test('values in a template become parameters', () => {
  const query = sql`SELECT * FROM t WHERE name = ${"'; DROP TABLE t; --"} AND id > ${1n}`
  assert.equal(query.sql, 'SELECT * FROM t WHERE name = ? AND id > ?')
  assert.deepEqual(query.params, ["'; DROP TABLE t; --", 1n])
  assert.ok(query instanceof SqlQuery)
})

test('queries in a template become part of the query', () => {
  const young = sql`age < ${18}`
  const query = sql`SELECT * FROM users WHERE team = ${7} AND (${young} OR ${sql`age > ${65}`})`
  assert.equal(query.sql, 'SELECT * FROM users WHERE team = ? AND (age < ? OR age > ?)')
  assert.deepEqual(query.params, [7, 18, 65])
})

test('sql.join lists values and parts', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const conditions = [sql`id IN (${sql.join([1, 2])})`, sql`name <> ${'a'}`]
  const query = sql`SELECT id FROM t WHERE ${sql.join(conditions, ' AND ')}`
  assert.equal(query.sql, 'SELECT id FROM t WHERE id IN (?, ?) AND name <> ?')
  assert.deepEqual(await db.select(query), [{ id: 2 }])
})

test('sql.identifier quotes names', async (t) => {
  const db = await tempDatabase(t, 'CREATE TABLE "odd "" name"(x)')
  assert.deepEqual(await db.select(sql`SELECT * FROM ${sql.identifier('main', 'odd " name')}`), [])
  for (const wrong of ['', 'a\0b', 7 as never]) {
    assert.throws(() => sql.identifier(wrong), withCode('RESQLITE_STATEMENT'))
  }
})

test('a function that takes a Queryable reads from a database, a transaction and a snapshot', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const names = (source: Queryable) => source.select('SELECT count(*) AS n FROM t')
  const expected = [{ n: 3 }]
  assert.deepEqual(await names(db), expected)
  assert.deepEqual(await db.transaction(names), expected)
  assert.deepEqual(await db.snapshot(names), expected)
})

test('a function that takes an Executor writes to a database and a transaction', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const add = (target: Executor) =>
    target.transaction(async (tx) => (await tx.execute("INSERT INTO t(name) VALUES ('x')")).changes)
  assert.equal(await add(db), 1)
  assert.equal(await db.transaction(add), 1)
  assert.equal((await db.selectOne<{ n: number }>('SELECT count(*) AS n FROM t'))?.n, 5)
})

test('iterate returns rows as arrays', async (t) => {
  const db = await tempDatabase(t, TABLE)
  const rows: unknown[] = []
  for await (const row of db.iterate('SELECT id, name FROM t', [], { arrays: true, batchSize: 2 }))
    rows.push(row)
  assert.deepEqual(rows, [
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
  ])
})
