import { assertRows, expectedRows, makeTouch } from '../shapes.mjs'
import { oneByOne } from './calls.mjs'

/** `together` selects of `limit` rows at once; every field of every row is read before an operation counts as done. */
const select = ({ id, title, limit, together = 1, group = 'reads', shapes = ['items'], rows = 10_000 }) => ({
  id,
  version: 'v1',
  group,
  title,
  shapes,
  rows,
  async prepare(session, shape, owner) {
    const sql = `SELECT * FROM ${shape} WHERE id <= ?`
    // One statement each: some libraries run the calls of one statement in turn.
    const statements = []
    for (let i = 0; i < together; i++) statements.push(await session.prepare(sql))
    assertRows(shape, await statements[0].all([limit]), limit)

    const all = () => statements.map((statement) => statement.all([limit]))
    const touch = makeTouch(shape, owner)
    const expected = touch(expectedRows(shape, limit))
    const check = (results) => {
      for (const rows of results) if (touch(rows) !== expected) throw new Error('wrong rows')
    }
    return { run: oneByOne(session, session.sync ? all : () => Promise.all(all()), check) }
  },
})

const bothShapes = ['items', 'mixed']
const short = (count) => (count >= 1000 ? `${count / 1000}k` : String(count))

/** From 10 rows to 20,000. */
export const selects = [10, 50, 100, 500, 1000, 2000, 5000, 10_000, 20_000].map((limit) =>
  select({
    id: `select-${short(limit)}`,
    title: `select ${limit.toLocaleString('en')} × 6`,
    limit,
    shapes: limit === 1000 || limit === 10_000 ? bothShapes : ['items'],
    rows: Math.max(limit, 10_000),
  }),
)

export const concurrentSelects = [
  ...[1, 2, 4, 8].map((together) =>
    select({
      id: `concurrent-${together}`,
      title: `${together} × select 1,000 × 6 at once`,
      limit: 1000,
      together,
      group: 'concurrency',
    }),
  ),
  select({
    id: 'select-8x10k',
    title: '8 × select 10,000 × 6 at once',
    limit: 10_000,
    together: 8,
    group: 'concurrency',
    shapes: bothShapes,
  }),
]
