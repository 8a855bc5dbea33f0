import { insertSql, parameterSets } from '../shapes.mjs'
import { oneByOne } from './calls.mjs'
import { makeFile, numbered } from './file.mjs'
import { insertT, rowsOfT, schemaT } from './t.mjs'
import { emptyTable } from './table.mjs'

/** One statement for many parameter sets, one commit. `about(shape)`: { sql, sets }. `most`: so that tables stay small. */
const batch = (workload, most, about) => ({
  version: 'v1',
  group: 'writes',
  ...workload,
  async prepare(session, shape) {
    const { sql, sets } = about(shape)
    const insert = await session.batch?.(sql)
    if (!insert) return
    return {
      run: oneByOne(session, () => insert(sets)),
      most,
      ...emptyTable(session, shape, sets.length),
    }
  },
})

const intoT = (id, count, most) =>
  batch(
    {
      id,
      title: `batch insert of ${count.toLocaleString('en')} rows × 2`,
      shapes: ['t'],
      seed: (file) => makeFile(file, schemaT),
    },
    most,
    () => ({ sql: insertT, sets: rowsOfT(count) }),
  )

const wideColumns = numbered(20, (c) => `c${c}`)
const wideSets = numbered(10_000, (i) =>
  wideColumns.map((_, c) =>
    c % 3 === 0 ? `text ${c} of row ${i}` : c % 3 === 1 ? i + c : i * 0.5 + c + 0.25,
  ),
)

export const batches = [
  intoT('batch-100', 100, 1000),
  intoT('batch-1k', 1000, 100),
  batch(
    { id: 'batch-10k', title: 'batch insert of 10,000 rows', shapes: ['items', 'mixed'], rows: 0 },
    1, // the table starts empty for each
    (shape) => ({ sql: insertSql(shape), sets: parameterSets(shape, 10_000) }),
  ),
  intoT('batch-narrow-10k', 10_000, 10),
  batch(
    {
      id: 'batch-wide-10k',
      title: 'batch insert of 10,000 rows × 20',
      shapes: ['wide'],
      seed: (file) => makeFile(file, `CREATE TABLE wide (id INTEGER PRIMARY KEY, ${wideColumns})`),
    },
    4,
    () => ({
      sql: `INSERT INTO wide (${wideColumns}) VALUES (${wideColumns.map(() => '?')})`,
      sets: wideSets,
    }),
  ),
]
