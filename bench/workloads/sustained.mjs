import { statSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { insertSql, parameterSets } from '../shapes.mjs'
import { expectSame, scalar } from './expect.mjs'
import { bytes, rate, time } from './measures.mjs'
import { perOperation, quantile, timed } from './timed.mjs'

const rows = 1000
const readRows = 100
const sets = parameterSets('items', 1000)
const now = () => performance.now()

/** Single inserts, each awaited, while one reader keeps selecting 100 rows; a blocking library does one after the other. */
export const sustained = {
  id: 'sustained-writes',
  version: 'v1',
  group: 'writes',
  title: 'inserts one at a time for 3 s beside a reader',
  shapes: ['items'],
  rows,
  fewer: true,
  rate: true,
  measures: {
    p50: time('insert, median'),
    p99: time('insert, 99th percentile'),
    reads: rate('selects of 100 rows beside'),
    wal: bytes('WAL file at the end'),
  },
  async prepare(session, _shape, _owner, { quick, file }) {
    const duration = quick ? 500 : 3000
    const insert = await session.prepare(insertSql('items'))
    const select = await session.prepare('SELECT * FROM items WHERE id > ? AND id <= ?')
    const run = session.sync ? inTurn : together
    return {
      async measure() {
        await session.exec(`DELETE FROM items WHERE id > ${rows}`)
        await session.pragma('wal_checkpoint(TRUNCATE)')
        const latencies = []
        let reads = 0
        const before = () => (reads * readRows) % rows
        const span = await timed(() =>
          run(now() + duration, {
            write: (i) => insert.run(sets[i % sets.length]),
            written: (ms) => latencies.push(ms),
            read: () => select.all([before(), before() + readRows]),
            seen(found) {
              expectSame('rows read', found.length, readRows)
              expectSame('first row read', found[0].id, before() + 1)
              reads++
            },
          }),
        )
        const wal = statSync(`${file}-wal`).size
        const count = latencies.length
        expectSame('rows', await scalar(session, 'SELECT count(*) FROM items'), rows + count)
        if (reads === 0) throw new Error('the reader never got anything')
        return {
          ...perOperation(span, count),
          p50: quantile(latencies, 0.5),
          p99: quantile(latencies, 0.99),
          reads: (reads / span.wall) * 1000,
          wal,
        }
      },
    }
  },
}

function inTurn(end, { write, written, read, seen }) {
  for (let i = 0; now() < end; i++) {
    const start = now()
    write(i)
    written(now() - start)
    seen(read())
  }
}

function together(end, { write, written, read, seen }) {
  const writing = async (i) => {
    const start = now()
    await write(i)
    written(now() - start)
  }
  const reading = async () => seen(await read())
  return Promise.all([lane(end, writing), lane(end, reading)])
}

/** The turns of the event loop: the promises of a library that blocks would otherwise keep the other lane waiting for ever. */
async function lane(end, call) {
  let turned = now()
  for (let i = 0; now() < end; i++) {
    await call(i)
    if (now() - turned < 1) continue
    await turn()
    turned = now()
  }
}
