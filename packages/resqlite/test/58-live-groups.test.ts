import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { SqlParams } from 'resqlite'
import { quiet, Watch } from './support/live'
import { assertMaintained, countedSince, ROUNDS_MAX } from './support/maintained'
import { tempDatabase } from './support/temp'

const SCHEMA = `
  CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, city TEXT, amount INTEGER, weight REAL, paid INTEGER);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
  INSERT INTO orders SELECT i, i % 100, 'city ' || (i % 7), i % 50, i / 8.0, i % 3 = 0 FROM n;
`
/**
 * A condition that holds for every row and takes long. With it a result of one row is worth keeping on any machine, and to read what is
 * kept takes little more than the query itself, however busy the machine is.
 */
const slowly = (id: string) => `length(hex(zeroblob(300 + ${id} % 2))) >= 600`
const SLOWLY = slowly('id')

/** Commits that change, add, move, and remove rows of `orders`. */
const COMMITS = [
  'UPDATE orders SET amount = 1000 WHERE id = 1',
  'UPDATE orders SET customer = 3, paid = 1 WHERE id = 5',
  'DELETE FROM orders WHERE id = 7',
  "INSERT INTO orders VALUES (90001, 3, 'city 3', 7, 2.5, 1)",
  'INSERT INTO orders VALUES (90002, NULL, NULL, NULL, NULL, NULL)',
  'UPDATE orders SET id = 90003 WHERE id = 9',
  'UPDATE orders SET paid = 1 - paid WHERE id IN (10, 11, 12)',
  'UPDATE orders SET amount = -amount, city = NULL WHERE customer = 20 AND id < 500',
  "REPLACE INTO orders VALUES (13, 14, 'city 2', 15, 1.0, 0)",
]

/** Changes a row so that every aggregate over it changes, and back. */
const THERE_AND_BACK = [
  'UPDATE orders SET customer = customer + 1, amount = amount + 1, weight = weight + 1, paid = 1 - paid WHERE id = 325',
  'UPDATE orders SET customer = customer - 1, amount = amount - 1, weight = weight - 1, paid = 1 - paid WHERE id = 325',
]

/**
 * Follows a query through commits; after each that changes the result, there is a value, which is that of a fresh query.
 * Before them, commits go there and back until what it needs is kept. Returns what it counted after that. `until`: the commits
 * are made again until that holds, since on a busy machine what is kept may be dropped for a while.
 */
async function follows(
  t: TestContext,
  sql: string,
  {
    fresh = sql,
    commits = COMMITS,
    params = [],
    schema = SCHEMA,
    untilKept = THERE_AND_BACK,
    until = () => true,
  }: Partial<Followed> = {},
) {
  const db = await tempDatabase(t, schema)
  const live = db.stream(sql, params)
  const watching = new Watch(live)
  let before = JSON.stringify(await watching.value())
  const follow = async (commit: string) => {
    await db.execute(commit)
    const expected = await db.select(fresh, params)
    const now = JSON.stringify(expected)
    if (now !== before) assert.deepEqual(await watching.value(), expected, commit)
    before = now
    await quiet(db)
  }
  await quiet(db)
  for (let round = 0; untilKept.length > 0 && live.stats.maintained === 0; round++) {
    assert.ok(round < ROUNDS_MAX, JSON.stringify(live.stats))
    for (const commit of untilKept) await follow(commit)
  }
  const kept = live.stats
  for (let round = 0; round === 0 || !until(countedSince(kept, live.stats)); round++) {
    assert.ok(round < ROUNDS_MAX, JSON.stringify(live.stats))
    for (const commit of commits) await follow(commit)
  }
  return countedSince(kept, live.stats)
}

interface Followed {
  /** The query in the order that is documented. */
  fresh: string
  commits: string[]
  params: SqlParams
  schema: string
  /** Commits that leave everything as it was; none for a query that is not maintained. */
  untilKept: string[]
  until: (counted: ReturnType<typeof countedSince>) => boolean
}

// G143
test('counts and sums change with the rows that change', async (t) => {
  const sql = `SELECT count(*), count(amount) AS amounts, sum(amount) FILTER (WHERE paid) AS paid, total(amount), avg(amount)
    FROM orders WHERE ${SLOWLY} AND amount > ?`
  const counted = await follows(t, sql, { params: [10] })
  assertMaintained(counted)
  assert.ok(counted.rowsAsked < 60, `${counted.rowsAsked} rows`)
})

// G143
test('groups change with the rows that change, and are ordered by their aggregates', async (t) => {
  const sql = `SELECT city, count(*) AS orders, sum(amount) AS amount, max(amount) - 1 FROM orders WHERE ${SLOWLY} AND id <> :out
    GROUP BY city HAVING count(*) > :least ORDER BY amount DESC, orders`
  const counted = await follows(t, sql, { fresh: `${sql}, city`, params: { out: 17, least: 2 } })
  assertMaintained(counted)
})

test('groups that ORDER BY leaves equal come in the order of their values', async (t) => {
  const sql = `SELECT city, customer % 3 AS third, count(*) FROM orders WHERE ${SLOWLY} GROUP BY third, city
    ORDER BY count(*) > 1 DESC`
  assertMaintained(await follows(t, sql, { fresh: `${sql}, third DESC, city DESC` }))
})

test('distinct rows are maintained', async (t) => {
  const sql = `SELECT DISTINCT city, amount > 25 AS large FROM orders WHERE ${SLOWLY} AND city <> 'city 6'`
  const commits = [
    "UPDATE orders SET city = 'city 9' WHERE id = 1",
    "UPDATE orders SET city = 'city 9' WHERE id = 2",
    "DELETE FROM orders WHERE city = 'city 9'",
    "INSERT INTO orders(city, amount) VALUES ('city 10', 99)",
    "UPDATE orders SET amount = 1 WHERE city = 'city 10'",
  ]
  assertMaintained(await follows(t, sql, { fresh: `${sql} ORDER BY 1, 2`, commits }))
})

test('the groups with the largest sums change places', async (t) => {
  const sql = `SELECT customer, sum(amount) AS amount FROM orders WHERE ${SLOWLY} GROUP BY customer
    ORDER BY amount DESC LIMIT ? OFFSET 2`
  const commits = [
    'UPDATE orders SET amount = 500 WHERE id = 1',
    'UPDATE orders SET amount = 9000 WHERE id = 2',
    'UPDATE orders SET amount = 9001 WHERE id = 3',
    'UPDATE orders SET amount = 9002 WHERE id = 4',
    'DELETE FROM orders WHERE customer = 3',
    'UPDATE orders SET amount = 0 WHERE id = 2',
  ]
  const fresh = sql.replace('DESC', 'DESC, customer DESC')
  assertMaintained(await follows(t, sql, { fresh, commits, params: [5] }))
})

test('a group vanishes with its last row, and returns', async (t) => {
  const sql = `SELECT customer, count(*) FROM orders WHERE ${SLOWLY} GROUP BY customer`
  const commits = [
    'UPDATE orders SET paid = 2 WHERE id = 1',
    'DELETE FROM orders WHERE customer = 42',
    'INSERT INTO orders(customer) VALUES (42)',
    'UPDATE orders SET customer = NULL WHERE customer = 42',
    'UPDATE orders SET customer = 42 WHERE customer IS NULL',
  ]
  assertMaintained(await follows(t, sql, { commits }))
})

// G145
test('a minimum that leaves is looked for again', async (t) => {
  const commits = [
    'UPDATE orders SET amount = -5 WHERE id = 1',
    'UPDATE orders SET amount = -7 WHERE id = 2',
    'DELETE FROM orders WHERE id = 2',
    'UPDATE orders SET amount = 3 WHERE id = 1',
  ]
  const sql = `SELECT min(amount), max(amount) FROM orders WHERE ${SLOWLY}`
  const until: Followed['until'] = ({ maintained, undecided }) => maintained > 0 && undecided > 0
  await follows(t, sql, { commits, until })
})

test('the next minimum of a group is asked for where an index finds its rows', async (t) => {
  const sql = `SELECT customer, min(amount), max(id), count(*) FROM orders WHERE ${SLOWLY} AND paid = 0 GROUP BY customer`
  const next = (customer: number) =>
    `DELETE FROM orders WHERE id = (SELECT id FROM orders WHERE customer = ${customer} AND paid = 0 ORDER BY amount, id LIMIT 1)`
  const commits = [next(7), next(7), next(8), 'UPDATE orders SET amount = -1 WHERE id = 409', next(9)]
  const found = await follows(t, sql, {
    commits,
    schema: `${SCHEMA}; CREATE INDEX of_customer ON orders(customer)`,
  })
  assertMaintained(found)
  await follows(t, sql, { commits, until: ({ undecided }) => undecided > 0 })
})

// G145
test('a sum that an INTEGER cannot hold is an error until it can', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream('SELECT sum(amount) AS sum FROM orders')
  const watching = new Watch(live)
  await watching.value()
  await db.execute('UPDATE orders SET amount = amount + 1 WHERE id = 3')
  await watching.value()
  await db.execute(`UPDATE orders SET amount = ${2n ** 63n - 1n} WHERE id = 1`)
  assert.match((await watching.error()).message, /integer overflow/)
  await db.execute('UPDATE orders SET amount = 1 WHERE id = 1')
  assert.deepEqual(await watching.value(), await db.select('SELECT sum(amount) AS sum FROM orders'))
})

// G145
test('sums of REAL values, which depend on the order of addition, are read as a whole', async (t) => {
  const commits = [
    'UPDATE orders SET weight = 0.1 WHERE id = 1',
    'UPDATE orders SET weight = 1e18 WHERE id = 3',
  ]
  const { maintained } = await follows(t, 'SELECT sum(weight), avg(weight) FROM orders', {
    untilKept: [],
    commits: [...commits, 'DELETE FROM orders WHERE id = 3', 'UPDATE orders SET weight = 3 WHERE id = 9'],
  })
  assert.equal(maintained, 0)
})

test('a REAL column holds REAL values, also those that are written as integers', async (t) => {
  const commits = [
    'INSERT INTO orders(weight) VALUES (7)',
    'INSERT INTO orders(weight) VALUES (8)',
    'UPDATE orders SET weight = 9 WHERE weight = 8',
    'DELETE FROM orders WHERE weight = 9',
  ]
  const sql = `SELECT weight, typeof(weight) AS type, count(*) FROM orders WHERE ${SLOWLY} GROUP BY weight`
  assertMaintained(await follows(t, sql, { commits }))
})

test('rows from before a column was added have its default value', async (t) => {
  const schema = `${SCHEMA}; ALTER TABLE orders ADD COLUMN state TEXT DEFAULT 'open'`
  const commits = [
    "UPDATE orders SET state = 'done' WHERE id = 1",
    "UPDATE orders SET state = 'done' WHERE id = 2",
  ]
  const untilKept = [
    'UPDATE orders SET state = NULL WHERE id = 325',
    "UPDATE orders SET state = 'open' WHERE id = 325",
  ]
  const sql = `SELECT state, count(*) FROM orders WHERE ${SLOWLY} GROUP BY state`
  assertMaintained(await follows(t, sql, { commits, schema, untilKept }))
})

// G144
test('what was rolled back does not count', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const watching = new Watch(db.stream('SELECT count(*) AS n, sum(amount) AS sum FROM orders'))
  await watching.value()
  for (let id = 1; id <= 5; id++) {
    await db.transaction(async (tx) => {
      await tx.execute('DELETE FROM orders WHERE id = ?', [id])
      await tx
        .transaction(async (inner) => {
          await inner.execute('DELETE FROM orders WHERE id > 100')
          throw new Error('no')
        })
        .catch(() => {})
    })
    assert.deepEqual(
      await watching.value(),
      await db.select('SELECT count(*) AS n, sum(amount) AS sum FROM orders'),
    )
  }
})

test('with verify, a maintained result is checked', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const live = db.stream('SELECT customer, sum(amount) FROM orders GROUP BY customer', [], { verify: 1 })
  const watching = new Watch(live)
  await watching.value()
  for (const commit of COMMITS) await db.execute(commit)
  await quiet(db)
  assert.equal(live.stats.missed, 0)
  assert.deepEqual(
    watching.values.at(-1),
    await db.select('SELECT customer, sum(amount) FROM orders GROUP BY customer'),
  )
})

test('explainStream tells groups from aggregates, and why some are not maintained', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const maintenance = async (sql: string) => {
    const { maintenance, whyRerun } = await db.explainStream(sql)
    return [maintenance, whyRerun]
  }
  assert.deepEqual(await maintenance('SELECT count(*) FROM orders'), ['aggregates', null])
  assert.deepEqual(await maintenance('SELECT city, sum(amount) FROM orders GROUP BY 1'), ['groups', null])
  assert.deepEqual(await maintenance('SELECT DISTINCT city FROM orders'), ['groups', null])
  assert.deepEqual(await maintenance('SELECT sum(amount) city FROM orders'), ['aggregates', null])
  assert.deepEqual(await maintenance('SELECT count(DISTINCT city) FROM orders'), [
    'rerun',
    'it aggregates distinct values',
  ])
})

const SALES = `
  CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE sales(id INTEGER PRIMARY KEY, customer INTEGER, amount INTEGER);
  CREATE INDEX sales_of ON sales(customer);
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
  INSERT INTO customers SELECT i, 'customer ' || i FROM n;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
  INSERT INTO sales SELECT i, i % 100 + 1, i % 50 FROM n;
`
const RENAMED_AND_BACK = [
  "UPDATE customers SET name = 'Hedy' WHERE id = 50",
  "UPDATE customers SET name = 'customer 50' WHERE id = 50",
]
const PER_CUSTOMER = `SELECT c.name, count(*) AS sales, sum(s.amount) AS amount FROM sales s JOIN customers c ON c.id = s.customer
  WHERE ${slowly('s.id')} AND s.amount > ? GROUP BY c.id`

// G151
test('groups of a join change with the rows of either table', async (t) => {
  const counted = await follows(t, PER_CUSTOMER, {
    fresh: `${PER_CUSTOMER} ORDER BY c.id`,
    params: [3],
    schema: SALES,
    untilKept: RENAMED_AND_BACK,
    commits: [
      'UPDATE sales SET amount = 1000 WHERE id = 1',
      'UPDATE sales SET customer = 7 WHERE id IN (2, 3)',
      'DELETE FROM sales WHERE id = 9',
      "UPDATE customers SET name = 'Ada' WHERE id = 5",
      'DELETE FROM customers WHERE id = 6',
      "INSERT INTO customers VALUES (6, 'Grace')",
    ],
  })
  assertMaintained(counted)
})

// G151
test('a commit that changes several tables of a join makes its groups anew, and is counted', async (t) => {
  const { undecided } = await follows(t, PER_CUSTOMER, {
    fresh: `${PER_CUSTOMER} ORDER BY c.id`,
    params: [3],
    schema: `${SALES};
      CREATE TRIGGER both AFTER UPDATE ON sales BEGIN
        UPDATE customers SET name = name || 1 WHERE id = new.customer;
      END`,
    untilKept: RENAMED_AND_BACK,
    commits: ['UPDATE sales SET amount = 1002 WHERE id = 1', 'UPDATE sales SET amount = 1003 WHERE id = 1'],
  })
  assert.ok(undecided > 0)
})
