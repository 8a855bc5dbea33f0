import { oneByOne } from './calls.mjs'
import { expectSame, scalar } from './expect.mjs'
import { makeFile } from './file.mjs'
import { steps } from './steps.mjs'
import { insertT, rowsOfT, schemaT } from './t.mjs'
import { emptyTable } from './table.mjs'

/**
 * An operation is one transaction. `rows`: how many the table has at first; `needs`: what the handle of the transaction
 * must offer; `body(session)` → the body; `task(session)`: the rest of the task.
 */
const transaction = ({ id, title, rows = 0, needs, body, task }) => ({
  id,
  version: 'v1',
  group: 'transactions',
  title,
  shapes: ['t'],
  seed: (file) => makeFile(file, schemaT, { t: rowsOfT(rows).map((row, i) => [i + 1, ...row]) }),
  async prepare(session) {
    if (!session.transaction || (needs && !(await offers(session, needs)))) return
    const once = body(session)
    return { run: oneByOne(session, () => session.transaction(once)), ...(await task(session)) }
  },
})

async function offers(session, method) {
  let found = false
  const look = steps(session, function* (tx) {
    found = tx[method] !== undefined
    yield tx.all('SELECT 1', [])
  })
  await session.transaction(look)
  return found
}

const interactiveRows = 100

/** Inserts a row, counts, and as there is one too many now, deletes the oldest. */
const interactive = transaction({
  id: 'tx-interactive',
  title: 'transaction: insert, count, conditional delete, in a table of 100 rows',
  rows: interactiveRows,
  body: (session) =>
    steps(session, function* (tx) {
      yield tx.run(insertT, ['new', 1.5])
      const { n } = yield tx.get('SELECT count(*) AS n FROM t', [])
      if (n > interactiveRows) yield tx.run('DELETE FROM t WHERE id = (SELECT min(id) FROM t)', [])
    }),
  task(session) {
    let last = interactiveRows
    return {
      async verify(ops) {
        last += ops
        expectSame('rows', await scalar(session, 'SELECT count(*) FROM t'), interactiveRows)
        expectSame('newest row', await scalar(session, 'SELECT max(id) FROM t'), last)
      },
    }
  },
})

/** The table starts empty; each transaction inserts as many rows. */
const inserting = ({ rowsPerOp, most, ...about }) =>
  transaction({ ...about, task: (session) => ({ most, ...emptyTable(session, 't', rowsPerOp) }) })

const bulk = (count, name, most) => {
  const rows = rowsOfT(count)
  return [
    inserting({
      id: `tx-batch-${name}`,
      title: `transaction: batch insert of ${count.toLocaleString('en')} rows`,
      rowsPerOp: count,
      most,
      needs: 'batch',
      body: (session) =>
        steps(session, function* (tx) {
          yield tx.batch(insertT, rows)
        }),
    }),
    inserting({
      id: `tx-loop-${name}`,
      title: `transaction: ${count.toLocaleString('en')} inserts, one at a time`,
      rowsPerOp: count,
      most,
      body: (session) =>
        steps(session, function* (tx) {
          for (const row of rows) yield tx.run(insertT, row)
        }),
    }),
  ]
}

const countingRow = 1001

/** The update makes it a transaction that writes: what it reads may not come from another connection. Its row counts. */
const reading = (count, name) => {
  const expected = rowsOfT(count).reduce((sum, [name, value]) => sum + name.length + value, 0)
  return transaction({
    id: `tx-read-${name}`,
    title: `transaction: update of one row, select of ${count.toLocaleString('en')}`,
    rows: countingRow,
    body: (session) =>
      steps(session, function* (tx) {
        yield tx.run('UPDATE t SET value = value + 1 WHERE id = ?', [countingRow])
        const rows = yield tx.all('SELECT * FROM t WHERE id <= ?', [count])
        let sum = 0
        for (const row of rows) sum += row.name.length + row.value
        expectSame('sum of the rows', sum, expected)
      }),
    async task(session) {
      const counted = () => scalar(session, `SELECT sum(value) FROM t WHERE id = ${countingRow}`)
      let last = await counted()
      return {
        async verify(ops) {
          const before = last
          last = await counted()
          expectSame('updates', last - before, ops)
        },
      }
    },
  })
}

const nestedRow = ['nested', 1]

const nested = inserting({
  id: 'tx-nested-50',
  title: 'transaction with 50 nested ones of one insert',
  rowsPerOp: 50,
  most: 200,
  needs: 'transaction',
  body(session) {
    const one = steps(session, function* (tx) {
      yield tx.run(insertT, nestedRow)
    })
    return steps(session, function* (tx) {
      for (let i = 0; i < 50; i++) yield tx.transaction(one)
    })
  },
})

const deep = inserting({
  id: 'tx-depth-5',
  title: 'five transactions inside each other, one insert each',
  rowsPerOp: 5,
  most: 2000,
  needs: 'transaction',
  body(session) {
    const level = (depth) => {
      const inner = depth < 5 ? level(depth + 1) : undefined
      return steps(session, function* (tx) {
        yield tx.run(insertT, nestedRow)
        if (inner) yield tx.transaction(inner)
      })
    }
    return level(1)
  },
})

export const transactions = [
  interactive,
  ...bulk(100, '100', 500),
  ...bulk(1000, '1k', 50),
  reading(500, '500'),
  reading(1000, '1k'),
  nested,
  deep,
]
