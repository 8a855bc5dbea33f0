import { insertSql, parameterSets } from '../shapes.mjs'
import { inFlight, oneByOne } from './calls.mjs'
import { emptyTable } from './table.mjs'

const sets = parameterSets('items', 4096)

/** Each insert is a commit of its own; the table starts empty in every round. */
const insert = (id, title, width, synchronous) => ({
  id,
  version: 'v1',
  group: 'writes',
  title,
  shapes: ['items'],
  rows: 0,
  synchronous,
  rate: true,
  async prepare(session, shape) {
    const statement = await session.prepare(insertSql(shape))
    const call = (i) => statement.run(sets[i % sets.length])
    return {
      run: width === 1 ? oneByOne(session, call) : inFlight(session, width, call),
      step: width,
      most: 20_000,
      ...emptyTable(session, shape),
    }
  },
})

export const inserts = [
  insert('insert-seq', 'insert, one at a time', 1, 'NORMAL'),
  insert('insert-64', 'insert, 64 in flight', 64, 'NORMAL'),
  insert('insert-full-seq', 'insert, one at a time, synchronous FULL', 1, 'FULL'),
  insert('insert-full-64', 'insert, 64 in flight, synchronous FULL', 64, 'FULL'),
]
