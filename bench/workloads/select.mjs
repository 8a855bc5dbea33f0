import { assertRows, expectedRows, makeTouch } from '../shapes.mjs'
import { oneByOne } from './calls.mjs'

/** `together` selects of `limit` rows at once; every field of every row is read before an operation counts as done. */
const select = (id, title, limit, together) => ({
  id,
  title,
  shapes: ['items', 'mixed'],
  rows: 10_000,
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

export const selects = [
  select('select-1k', 'select 1,000 × 6', 1000, 1),
  select('select-10k', 'select 10,000 × 6', 10_000, 1),
  select('select-8x10k', '8 × select 10,000 × 6 at once', 10_000, 8),
]
