import { insertSql, parameterSets } from '../shapes.mjs'
import { oneByOne } from './calls.mjs'
import { emptyTable } from './table.mjs'

const rows = 10_000

/** One statement for 10,000 parameter sets, one commit. */
export const batch = {
  id: 'batch-10k',
  title: 'batch insert of 10,000 rows',
  shapes: ['items', 'mixed'],
  rows: 0,
  async prepare(session, shape) {
    const insert = await session.batch?.(insertSql(shape))
    if (!insert) return
    const sets = parameterSets(shape, rows)
    return {
      run: oneByOne(session, () => insert(sets)),
      most: 1, // the table starts empty for each
      ...(await emptyTable(session, shape, rows)),
    }
  },
}
