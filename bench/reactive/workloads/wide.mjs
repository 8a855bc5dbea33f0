import {
  byRange,
  partition,
  partitions,
  sameForAll,
  sameRows,
  sameStreams,
  table,
  values,
  wideRows,
  writes,
} from '../cases/wide.mjs'
import { burstTask, fill, reactive, rowsOf } from '../define.mjs'
import { assertRows } from '../model.mjs'
import { openStreams } from '../stream.mjs'

const ranges = Array.from({ length: partitions }, (_, i) => byRange(i * partition, (i + 1) * partition))
/** Columns that the queries read. */
const read = new Set(['a', 'b'])
const same = Array.from({ length: sameStreams }, (_, i) => sameForAll(i))

/**
 * Row after row, one column is updated, with two turns of the event loop after each. `showing(id)`: indexes of the streams that show the
 * row, and its place there.
 */
const updates =
  (queries, column, showing) =>
  async (session, _shape, _owner, { quick }) => {
    const model = await fill(session, table, rowsOf(values, 0, wideRows))
    const streams = await openStreams(session, queries)
    let updates = 0
    const updater = (column) => {
      const { run } = session.prepare({ kind: 'update', table, columns: [column] })
      return async (id) => {
        const text = `${column} ${++updates}`
        model.get(id)[column] = text
        const shown = read.has(column) ? showing(id) : []
        for (const { stream, place } of shown) streams[stream].expect((rows) => rows[place][column] === text)
        await run([text, id])
        return shown.length
      }
    }
    const update = updater(column)
    const updateRead = updater('a')
    const task = await burstTask(
      { writes, quick },
      {
        session,
        streams,
        model,
        turns: 2,
        write: (i) => update(i % wideRows),
        probe: () => updateRead(0),
      },
    )
    const verified = async () => {
      const sample = await task.measure()
      await assertWritten(session, model)
      return sample
    }
    return { ...task, measure: verified }
  }

/** Throws unless the table holds what was written: for where no stream shows it. */
async function assertWritten(session, model) {
  const query = {
    sql: 'SELECT id, a, c FROM wide ORDER BY id',
    params: [],
    tanstack: (q, { wide }) => q.from({ wide }).orderBy(({ wide }) => wide.id),
  }
  const expected = [...model.values()].map(({ id, a, c }) => ({ id, a, c }))
  assertRows(await session.all(query), expected, 'the table')
}

const none = () => []
const inRange = (id) => [{ stream: Math.floor(id / partition), place: id % partition }]
const inAll = (id) => (id < sameRows ? same.map((_, stream) => ({ stream, place: id })) : [])

const beside = `${partitions} live queries of ${partition} rows`
const writer = (id, title, prepare) =>
  reactive({ id: `reactive-a11c-${id}`, title, fewer: true, rate: true, prepare })

/** A11c: what live queries cost a writer. */
export const writers = [
  writer('baseline', 'update without live queries', updates([], 'c', none)),
  writer('disjoint', `update of a column that none reads of ${beside}`, updates(ranges, 'c', inRange)),
  writer('overlap', `update of a column that one reads of ${beside}`, updates(ranges, 'a', inRange)),
]

const all = `${sameStreams} live queries of the same ${sameRows.toLocaleString('en')} rows`

/** Column granularity. */
export const columns = [
  reactive({
    id: 'reactive-columns-disjoint',
    title: `update of a column that none reads of ${all}`,
    fewer: true,
    prepare: updates(same, 'c', inAll),
  }),
  reactive({
    id: 'reactive-columns-overlap',
    title: `update of a column that all read of ${all}`,
    fewer: true,
    prepare: updates(same, 'a', inAll),
  }),
]
