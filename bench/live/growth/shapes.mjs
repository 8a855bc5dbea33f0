// Live queries over tables that grow, and the changes after which their values are awaited.
//
//   id, title
//   tables(size)   statements that make and fill the tables
//   sql, key       the query, and the column that identifies a row of its result
//   ids            optional: a query for ids, which `params` gets
//   changes        name → { sql, params(i, size, ids), rows }: what the i-th commit does, and how many rows its value brings; 0
//                  if there is none

const owners = 1000
/** A fifth of the rows is active. */
const share = 5
/** A prime number, by which the values of a column are all different and in no order. */
const modulus = 1_000_003
const places = 20
/** More rows at the top than are changed. */
const known = 10_000

const tasks = (size) => `
  CREATE TABLE tasks(
    id INTEGER PRIMARY KEY, owner INTEGER, score INTEGER, priority INTEGER, name TEXT, active INTEGER
  );
  CREATE INDEX by_score ON tasks(score);
  INSERT INTO tasks
  SELECT value, value % ${owners}, (value * 7919) % ${modulus}, (value * 104729) % ${modulus}, 'task ' || value, value % ${share} = 0
  FROM generate_series(1, ${size})`

/** Five items per order, one of them active; ten orders per customer. */
const shop = (size) => `
  CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, rank INTEGER);
  CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, placed INTEGER);
  CREATE TABLE items(id INTEGER PRIMARY KEY, "order" INTEGER, quantity INTEGER, active INTEGER);
  CREATE INDEX orders_by_customer ON orders(customer);
  CREATE INDEX items_by_order ON items("order");
  INSERT INTO customers SELECT value, 'customer ' || value, value FROM generate_series(1, ${customers(size)});
  INSERT INTO orders SELECT value, 1 + value % ${customers(size)}, value FROM generate_series(1, ${size / share});
  INSERT INTO items SELECT value, (value + ${share - 1}) / ${share}, value % 10, value % ${share} = 0
  FROM generate_series(1, ${size})`

const customers = (size) => size / share / 10

/** One of 1 … count, in no order. */
const scattered = (i, count) => 1 + ((i * 7919) % count)
const activeId = (i, size) => share * scattered(i, size / share)

const scoreOfActive = {
  sql: 'UPDATE tasks SET score = score + 1 WHERE id = ?',
  params: (i, size) => [activeId(i, size)],
  rows: 1,
}

const list = (id, order, title) => ({
  id,
  title: `a fifth of the rows ${title}`,
  tables: tasks,
  sql: `SELECT id, name, score FROM tasks WHERE active = 1 ORDER BY ${order}`,
  key: 'id',
  changes: { row: scoreOfActive },
})

const itemOfOrder = {
  sql: 'UPDATE items SET quantity = quantity + 1 WHERE id = ?',
  params: (i, size) => [activeId(i, size)],
  rows: 1,
}

const joined = (id, join) => ({
  id,
  title: `items ${join} orders ${join} customers, a fifth of the items`,
  tables: shop,
  sql: `SELECT items.id, items.quantity, orders.placed, customers.name AS customer, customers.rank
    FROM items ${join} orders ON orders.id = items."order" ${join} customers ON customers.id = orders.customer
    WHERE items.active = 1`,
  key: 'id',
  changes: {
    item: itemOfOrder,
    order: {
      sql: 'UPDATE orders SET placed = placed + 1 WHERE id = ?',
      params: (i, size) => [scattered(i, size / share)],
      rows: 1,
    },
    customer: {
      sql: 'UPDATE customers SET rank = rank + 1 WHERE id = ?',
      params: (i, size) => [scattered(i, customers(size))],
      rows: 10,
    },
  },
})

export const shapes = [
  list('key', 'id', 'by key'),
  list('index', 'score', 'by an indexed column'),
  list('sorted', 'name', 'by a column without an index'),
  {
    id: 'count',
    title: 'count(*) with a filter on a column without an index',
    tables: tasks,
    sql: 'SELECT count(*) AS n FROM tasks WHERE active = 1',
    key: 'n',
    changes: {
      row: {
        sql: 'UPDATE tasks SET active = 1 - active WHERE id = ?',
        params: (i, size) => [scattered(i, size)],
        rows: 1,
      },
    },
  },
  {
    id: 'sum',
    title: 'sum of integers with a filter on a column without an index',
    tables: tasks,
    sql: 'SELECT sum(score) AS total FROM tasks WHERE active = 1',
    key: 'total',
    changes: { row: scoreOfActive },
  },
  {
    id: 'groups',
    title: `GROUP BY with up to ${owners.toLocaleString('en')} groups`,
    tables: tasks,
    sql: 'SELECT owner, count(*) AS n, sum(score) AS total FROM tasks GROUP BY owner',
    key: 'owner',
    changes: { row: scoreOfActive },
  },
  {
    id: 'top',
    title: `the ${places} greatest by a column without an index`,
    tables: tasks,
    sql: `SELECT id, name, priority FROM tasks ORDER BY priority DESC LIMIT ${places}`,
    key: 'id',
    ids: `SELECT id FROM tasks ORDER BY priority DESC LIMIT ${known}`,
    changes: {
      inside: {
        sql: 'UPDATE tasks SET name = ? WHERE id = ?',
        params: (i, _size, ids) => [`renamed ${i}`, ids[i % places]],
        rows: 1,
      },
      outside: {
        sql: 'UPDATE tasks SET priority = priority - 1 WHERE id = ?',
        params: (i, _size, ids) => [ids[ids.length - 1 - (i % (ids.length / 2))]],
        rows: 0,
      },
      // All of them in turn: the one that left first is the greatest again when no other is left.
      leaving: {
        sql: 'UPDATE tasks SET priority = ? WHERE id = ?',
        params: (i, _size, ids) => [-i, ids[i % ids.length]],
        rows: 1,
      },
    },
  },
  joined('join', 'JOIN'),
  joined('left-join', 'LEFT JOIN'),
  {
    id: 'union',
    title: 'UNION ALL of two halves of a list, by an indexed column',
    tables: tasks,
    sql: `SELECT id, name, score FROM tasks WHERE active = 1 AND owner < ${owners / 2}
      UNION ALL SELECT id, name, score FROM tasks WHERE active = 1 AND owner >= ${owners / 2} ORDER BY score`,
    key: 'id',
    changes: { row: scoreOfActive },
  },
  {
    id: 'groups-join',
    title: 'items JOIN orders JOIN customers, GROUP BY customer',
    tables: shop,
    sql: `SELECT customers.id, customers.name, count(*) AS items, sum(items.quantity) AS quantity
      FROM items JOIN orders ON orders.id = items."order" JOIN customers ON customers.id = orders.customer
      GROUP BY customers.id`,
    key: 'id',
    changes: {
      item: itemOfOrder,
      customer: {
        sql: 'UPDATE customers SET name = ? WHERE id = ?',
        params: (i, size) => [`renamed ${i}`, scattered(i, customers(size))],
        rows: 1,
      },
    },
  },
]
