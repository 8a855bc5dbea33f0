// Live queries over tables that grow: those of ../../live/growth, in a form that all libraries have.
//
//   id, title
//   tables     each as in ../sql.mjs, with its number of rows and their values at a size of the largest table
//   query      as in ../peers/index.mjs; `rows(models)` is given the models of the tables by their names
//   change     { table, column, id(i, size), next(value) }: which value the i-th write changes, and to what
//   start      (models, query) → (row, before) → (rows) => boolean: whether a value shows the row that was changed last; `before`:
//              what was in the column

/** A fifth of the rows is active. */
const share = 5
const owners = 1000
const top = 20
const customersOf = (size) => size / share / 10

/** One of 1 … count, in no order. */
const scattered = (i, count) => 1 + ((i * 7919) % count)
const activeId = (i, size) => share * scattered(i, size / share)
const increased = (value) => value + 1

const tasks = {
  name: 'tasks',
  columns: {
    id: 'INTEGER',
    owner: 'INTEGER',
    score: 'INTEGER',
    priority: 'INTEGER',
    name: 'TEXT',
    active: 'INTEGER',
  },
  indexes: [['score']],
  count: (size) => size,
  // Scores are so far from each other that no row overtakes another.
  values: (id, size) => [
    id,
    id % owners,
    scattered(id, size) * 1000,
    id,
    `task ${id}`,
    Number(id % share === 0),
  ],
}
const customers = {
  name: 'customers',
  columns: { id: 'INTEGER', name: 'TEXT', rank: 'INTEGER' },
  count: customersOf,
  values: (id) => [id, `customer ${id}`, id],
}
const orders = {
  name: 'orders',
  columns: { id: 'INTEGER', customer: 'INTEGER', placed: 'INTEGER' },
  indexes: [['customer']],
  count: (size) => size / share,
  values: (id, size) => [id, 1 + (id % customersOf(size)), id],
}
const items = {
  name: 'items',
  columns: { id: 'INTEGER', order_id: 'INTEGER', quantity: 'INTEGER', active: 'INTEGER' },
  indexes: [['order_id']],
  count: (size) => size,
  values: (id) => [id, Math.ceil(id / share), id % 10, Number(id % share === 0)],
}

const isActive = ({ active }) => active === 1
const active = (model) => [...model.values()].filter(isActive)
const chosen = (columns) => (row) => Object.fromEntries(columns.map((column) => [column, row[column]]))
const total = (rows, column) => rows.reduce((sum, row) => sum + row[column], 0)
const ofScore = { table: 'tasks', column: 'score', id: activeId, next: increased }

/** The value is in the row of that key, whose place does not change. */
const atPlace =
  (column, by = 'id') =>
  (models, query) => {
    const places = new Map(query.rows(models).map((row, place) => [row[by], place]))
    return (row) => {
      const [place, value] = [places.get(row.id), row[column]]
      return (rows) => rows[place]?.[column] === value
    }
  }

function list(id, column, title) {
  const shown = ['id', 'name', 'score']
  const query = {
    sql: `SELECT id, name, score FROM tasks WHERE active = 1 ORDER BY ${column}`,
    params: [],
    key: 'id',
    tanstack: (q, { tasks }, { eq }) =>
      q
        .from({ task: tasks })
        .where(({ task }) => eq(task.active, 1))
        .orderBy(({ task }) => task[column])
        .select(({ task }) => ({ id: task.id, name: task.name, score: task.score })),
    rows: ({ tasks }) =>
      active(tasks)
        .sort((a, b) => a[column] - b[column])
        .map(chosen(shown)),
  }
  return { id, title, tables: [tasks], query, change: ofScore, start: atPlace('score') }
}

const count = {
  id: 'count',
  title: 'count(*) with a filter on a column without an index',
  tables: [tasks],
  query: {
    sql: 'SELECT count(*) AS n FROM tasks WHERE active = 1',
    params: [],
    key: 'n',
    tanstack: (q, { tasks }, { count, eq }) =>
      q
        .from({ task: tasks })
        .where(({ task }) => eq(task.active, 1))
        .select(({ task }) => ({ n: count(task.id) })),
    rows: ({ tasks }) => [{ n: active(tasks).length }],
  },
  change: { table: 'tasks', column: 'active', id: scattered, next: (value) => 1 - value },
  start({ tasks }) {
    let n = active(tasks).length
    return (row, before) => {
      n += row.active - before
      const now = n
      return ([shown]) => shown?.n === now
    }
  },
}

const sum = {
  id: 'sum',
  title: 'sum of integers with a filter on a column without an index',
  tables: [tasks],
  query: {
    sql: 'SELECT sum(score) AS total FROM tasks WHERE active = 1',
    params: [],
    key: 'total',
    tanstack: (q, { tasks }, { eq, sum }) =>
      q
        .from({ task: tasks })
        .where(({ task }) => eq(task.active, 1))
        .select(({ task }) => ({ total: sum(task.score) })),
    rows: ({ tasks }) => [{ total: total(active(tasks), 'score') }],
  },
  change: ofScore,
  start({ tasks }) {
    let sum = total(active(tasks), 'score')
    return (row, before) => {
      sum += row.score - before
      const now = sum
      return ([shown]) => shown?.total === now
    }
  },
}

const groups = {
  id: 'groups',
  title: `GROUP BY with ${owners.toLocaleString('en')} groups`,
  tables: [tasks],
  query: {
    sql: 'SELECT owner, count(*) AS n, sum(score) AS total FROM tasks GROUP BY owner ORDER BY owner',
    params: [],
    key: 'owner',
    tanstack: (q, { tasks }, { count, sum }) =>
      q
        .from({ task: tasks })
        .groupBy(({ task }) => task.owner)
        .select(({ task }) => ({ owner: task.owner, n: count(task.id), total: sum(task.score) }))
        .orderBy(({ $selected }) => $selected.owner),
    rows({ tasks }) {
      const shown = Array.from({ length: owners }, (_, owner) => ({ owner, n: 0, total: 0 }))
      for (const { owner, score } of tasks.values()) {
        shown[owner].n++
        shown[owner].total += score
      }
      return shown
    },
  },
  change: ofScore,
  start(models, query) {
    const totals = query.rows(models).map(({ total }) => total)
    return (row, before) => {
      totals[row.owner] += row.score - before
      const now = totals[row.owner]
      return (rows) => rows[row.owner]?.total === now
    }
  },
}

const window = {
  id: 'top',
  title: `the ${top} greatest by a column without an index, one of them changed`,
  tables: [tasks],
  query: {
    sql: `SELECT id, name, score FROM tasks ORDER BY priority DESC LIMIT ${top}`,
    params: [],
    key: 'id',
    tanstack: (q, { tasks }) =>
      q
        .from({ task: tasks })
        .orderBy(({ task }) => task.priority, 'desc')
        .limit(top)
        .select(({ task }) => ({ id: task.id, name: task.name, score: task.score })),
    rows: ({ tasks }) =>
      Array.from({ length: top }, (_, i) => chosen(['id', 'name', 'score'])(tasks.get(tasks.size - i))),
  },
  change: { ...ofScore, id: (i, size) => size - (i % top) },
  start: atPlace('score'),
}

const joins = {
  JOIN: 'innerJoin',
  'LEFT JOIN': 'leftJoin',
}

/** `changed`: the table of the changed row. */
function joined(id, join, title, { change, start }) {
  const method = joins[join]
  const query = {
    sql: `SELECT items.id, items.quantity, orders.placed, orders.customer, customers.rank FROM items
      ${join} orders ON orders.id = items.order_id ${join} customers ON customers.id = orders.customer
      WHERE items.active = 1 ORDER BY items.id`,
    params: [],
    key: 'id',
    tanstack: (q, { items, orders, customers }, { eq }) =>
      q
        .from({ item: items })
        [method]({ order: orders }, ({ item, order }) => eq(order.id, item.order_id))
        [method]({ customer: customers }, ({ order, customer }) => eq(customer.id, order.customer))
        .where(({ item }) => eq(item.active, 1))
        .orderBy(({ item }) => item.id)
        .select(({ item, order, customer }) => ({
          id: item.id,
          quantity: item.quantity,
          placed: order.placed,
          customer: order.customer,
          rank: customer.rank,
        })),
    rows: ({ items, orders, customers }) =>
      active(items).map(({ id, quantity, order_id }) => {
        const { placed, customer } = orders.get(order_id)
        return { id, quantity, placed, customer, rank: customers.get(customer).rank }
      }),
  }
  return {
    id,
    title: `items ${join} orders ${join} customers, ${title}`,
    tables: [items, orders, customers],
    query,
    change,
    start,
  }
}

const ofItem = {
  change: { table: 'items', column: 'quantity', id: activeId, next: increased },
  start: atPlace('quantity'),
}
const ofCustomer = {
  change: {
    table: 'customers',
    column: 'rank',
    id: (i, size) => scattered(i, customersOf(size)),
    next: increased,
  },
  start: atPlace('rank', 'customer'),
}

export const sizes = [10_000, 100_000]

export const shapes = [
  list('key', 'id', 'a fifth of the rows by key'),
  list('index', 'score', 'a fifth of the rows by an indexed column'),
  count,
  sum,
  groups,
  window,
  joined('join-item', 'JOIN', 'an item changed', ofItem),
  joined('join-customer', 'JOIN', 'a customer with ten items changed', ofCustomer),
  joined('left-join-item', 'LEFT JOIN', 'an item changed', ofItem),
  joined('left-join-customer', 'LEFT JOIN', 'a customer with ten items changed', ofCustomer),
]
