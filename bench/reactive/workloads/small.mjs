import { summary } from '../../summary.mjs'
import { burstMeasures } from '../burst.mjs'
import { allRows, counting, distinctly, rows, table, values } from '../cases/small.mjs'
import { burstTask, fill, reactive, rowsOf } from '../define.mjs'
import { addRow, trimModel } from '../model.mjs'
import { allArrived, openStreams, Stream } from '../stream.mjs'

/**
 * Inserts, each waited for until all concerned streams show it; before each burst the table is as it was at first.
 * `shows(rows, size)`: whether a concerned stream shows the table with so many rows.
 */
async function inserts(session, { quick }, spec) {
  const { base = rows, writes, open, concerned = (streams) => streams, shows, perWrite = 1, sampleOf } = spec
  const model = await fill(session, table, rowsOf(values, 1, base))
  const streams = await open(session)
  const trim = session.prepare({ kind: 'trim', table })
  const insert = session.prepare({ kind: 'insert', table })
  const expect = () => {
    const { size } = model
    for (const stream of concerned(streams)) stream.expect((rows) => shows(rows, size))
  }
  const before = async () => {
    if (model.size === base) return
    trimModel(model, base)
    expect()
    await trim.run([base])
    await allArrived(streams)
  }
  const write = async () => {
    const sets = rowsOf(values, model.size + 1, perWrite)
    for (const set of sets) addRow(model, table, set)
    expect()
    await (perWrite > 1 ? insert.batch(sets) : insert.run(sets[0]))
    return concerned(streams).length
  }
  return await burstTask({ writes, quick }, { session, streams, model, write, before, each: true, sampleOf })
}

const counts = ([row], size) => row?.n === size
const lists = (rows, size) => rows.length === size
const queries = (list) => (session) => openStreams(session, list)
const listeners = (count) => async (session) => {
  const streams = Array.from({ length: count }, () => new Stream(allRows))
  await session.live(allRows, ...streams.map(({ onRows }) => onRows))
  return streams
}
const inserting = (fields, spec) =>
  reactive({
    ...fields,
    prepare: (session, _shape, _owner, options) => inserts(session, options, spec),
  })

export const latency = inserting(
  {
    id: 'reactive-latency',
    title: 'insert → new value of one live count (median)',
    measures: {
      ...burstMeasures,
      p99: { title: 'insert → new value, 99th percentile', kind: 'time', better: 'lower' },
    },
  },
  {
    writes: 500,
    open: queries([counting('items')]),
    shows: counts,
    sampleOf({ latencies, ...sample }) {
      const sorted = latencies.sort((a, b) => a - b)
      const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1]
      return { ...sample, wall: summary(sorted).median, p99 }
    },
  },
)

export const fanOut = inserting(
  { id: 'reactive-fan-out', title: 'insert → new values of 10 live lists of 100 rows' },
  { writes: 200, open: queries(Array.from({ length: 10 }, (_, i) => distinctly(i))), shows: lists },
)

const outside = 1000

export const unchanged = inserting(
  {
    id: 'reactive-unchanged',
    title: `insert → new value of a live count, beside 10 live lists of ${outside.toLocaleString('en')} rows that stay`,
  },
  {
    base: outside,
    writes: 200,
    open: queries([counting('items'), ...Array.from({ length: 10 }, (_, i) => distinctly(i, outside))]),
    concerned: ([canary]) => [canary],
    shows: counts,
  },
)

export const growing = inserting(
  { id: 'reactive-growing', title: '100 rows more → new value of the whole list, of 500 rows at first' },
  { base: 500, writes: 20, perWrite: 100, open: queries([allRows]), shows: lists },
)

const many = 100

export const listening = [1, many].map((count) =>
  inserting(
    {
      id: `reactive-listeners-${count}`,
      title: `insert → new value at ${count} ${count === 1 ? 'listener' : 'listeners'} of one live list of 100 rows`,
    },
    { writes: 100, open: listeners(count), shows: lists },
  ),
)
