// How calls follow each other on the connection that writes. Every sample starts with an empty table.
import { inFlight, oneByOne } from './calls.mjs'
import { makeFile } from './file.mjs'
import { steps } from './steps.mjs'
import { emptyTable } from './table.mjs'

const sql = 'INSERT INTO items (body, n) VALUES (?, ?)'
const body = 'a body of some fifty characters, as a message has it'

/** `count` operations make a sample (a fifth with --quick); each inserts `rowsPerOp` rows. */
const pipeline = ({ id, group = 'writes', title, rate, count, rowsPerOp }, makeOperation) => ({
  id,
  version: 'v1',
  group,
  title,
  rate,
  shapes: ['pipeline'],
  seed: (file) =>
    makeFile(file, 'CREATE TABLE items (id INTEGER PRIMARY KEY, body TEXT NOT NULL, n INTEGER NOT NULL)'),
  async prepare(session, _shape, _owner, { quick }) {
    const step = quick ? count / 5 : count
    const operation = await makeOperation(session)
    if (!operation) return
    return {
      run: oneByOne(session, operation),
      step,
      most: step,
      ...emptyTable(session, 'items', rowsPerOp),
    }
  },
})

const inserting = async (session) => {
  const insert = await session.prepare(sql)
  return (i) => insert.run([body, i])
}

export const pipelines = [
  pipeline(
    { id: 'pipeline-seq', title: '2,000 inserts, one at a time', rate: true, count: 2000, rowsPerOp: 1 },
    inserting,
  ),
  pipeline(
    { id: 'pipeline-burst', title: 'bursts of 200 inserts at once, 10 bursts', count: 10, rowsPerOp: 200 },
    async (session) => {
      const burst = inFlight(session, 200, await inserting(session))
      return () => burst(200)
    },
  ),
]

/** Short transactions, each begun when the one before has been committed. */
export const pipelinedTransactions = pipeline(
  {
    id: 'pipeline-transactions',
    group: 'transactions',
    title: 'transactions of 10 inserts, 50 one at a time',
    count: 50,
    rowsPerOp: 10,
  },
  (session) => {
    const ten = steps(session, function* (tx) {
      for (let i = 0; i < 10; i++) yield tx.run(sql, [body, i])
    })
    return session.transaction && (() => session.transaction(ten))
  },
)
