import { loadPeer, openPeer } from '../peers/index.mjs'
import { random } from '../random.mjs'
import { expectSame } from './expect.mjs'
import { makeFile } from './file.mjs'
import { time } from './measures.mjs'
import { steps } from './steps.mjs'
import { perOperation, quantile, timed } from './timed.mjs'

/** With 200 characters each, about 110 MB: far more than the page cache of any connection holds. */
const rows = 500_000
const points = 1000
const ranges = 10
const rangeRows = 500
const seedOfKeys = 0xb16b00b5
const payload = (id) => `payload of row ${id} `.padEnd(200, '.')

function* everyRow() {
  for (let id = 1; id <= rows; id++) yield [id, payload(id)]
}

/**
 * Random points and ranges of a table that does not fit into the page cache. Warm: on a connection that has done it
 * before; cold: on one just opened (the cache of the operating system stays as it is).
 */
export const largeSet = {
  id: 'a9-large-set',
  version: 'v1',
  group: 'scenarios',
  title: '500,000 rows of 200 characters: 1,000 random points, 10 ranges of 500',
  shapes: ['large'],
  slow: true,
  measures: {
    warmPoint: time('warm point, median'),
    warmRange: time('warm range, median'),
    coldPoint: time('cold point, median'),
    coldRange: time('cold range, median'),
  },
  seed: (file) =>
    makeFile(file, 'CREATE TABLE items (id INTEGER PRIMARY KEY, payload TEXT NOT NULL)', {
      items: everyRow(),
    }),
  async prepare(session, _shape, owner, { file }) {
    const next = random(seedOfKeys)
    const warm = await reading(session)
    return {
      warmUp: () => warm(next),
      async measure() {
        const warmed = await warm(next)
        const fresh = await openPeer(await loadPeer(owner), file, 'NORMAL')
        try {
          const cold = await (await reading(fresh))(next)
          return {
            ...perOperation(warmed, points + ranges),
            warmPoint: warmed.point,
            warmRange: warmed.range,
            coldPoint: cold.point,
            coldRange: cold.range,
          }
        } finally {
          await fresh.close()
        }
      },
    }
  },
}

/** A function that does one round of points and ranges and returns its times. */
async function reading(session) {
  const point = await session.prepare('SELECT * FROM items WHERE id = ?')
  const range = await session.prepare(`SELECT * FROM items WHERE id >= ? ORDER BY id LIMIT ${rangeRows}`)
  const walk = steps(session, function* (statement, keys, times, check) {
    for (const key of keys) {
      const start = performance.now()
      const found = yield statement.all([key])
      times.push(performance.now() - start)
      check(found, key)
    }
  })
  return async (next) => {
    const pointKeys = Array.from({ length: points }, () => next(rows) + 1)
    const rangeKeys = Array.from({ length: ranges }, () => next(rows - rangeRows) + 1)
    const [pointTimes, rangeTimes] = [[], []]
    const first = await timed(() => walk(point, pointKeys, pointTimes, isRow))
    const then = await timed(() => walk(range, rangeKeys, rangeTimes, isRange))
    return {
      wall: first.wall + then.wall,
      main: first.main + then.main,
      point: quantile(pointTimes, 0.5),
      range: quantile(rangeTimes, 0.5),
    }
  }
}

const isRow = ([row], key) => expectSame('payload', row.payload, payload(key))

function isRange(found, key) {
  expectSame('rows of the range', found.length, rangeRows)
  expectSame('last of the range', found.at(-1).payload, payload(key + rangeRows - 1))
}
