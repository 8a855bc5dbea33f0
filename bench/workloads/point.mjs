import { assertRows, expectedRows, makeTouch } from '../shapes.mjs'
import { inFlight, oneByOne } from './calls.mjs'

const rows = 10_000

// All keys once in a scattered order: 7919 and 10,000 have no common factor.
const keys = Array.from({ length: rows }, (_, i) => ((i * 7919) % rows) + 1)

const point = (id, title, width) => ({
  id,
  version: 'v1',
  group: 'points',
  title,
  shapes: ['items', 'mixed'],
  rows,
  rate: true,
  async prepare(session, shape, owner) {
    const statement = await session.prepare(`SELECT * FROM ${shape} WHERE id = ?`)
    const { _metadata, ...first } = await statement.get([1]) // libsql adds _metadata
    assertRows(shape, [first], 1)

    const touch = makeTouch(shape, owner)
    const expected = expectedRows(shape, rows).map((row) => touch([row]))
    const call = (i) => statement.get([keys[i % rows]])
    const check = (row, i) => {
      if (touch([row]) !== expected[keys[i % rows] - 1])
        throw new Error(`wrong row for key ${keys[i % rows]}`)
    }
    return {
      run: width === 1 ? oneByOne(session, call, check) : inFlight(session, width, call, check),
      step: width,
    }
  },
})

export const points = [
  point('point-seq', 'point query by key, one at a time', 1),
  point('point-64', 'point query by key, 64 in flight', 64),
]
