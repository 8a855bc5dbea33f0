import { shapes, sizes } from '../cases/growth.mjs'
import { burstTask, fill, reactive, rowsOf } from '../define.mjs'
import { openStreams } from '../stream.mjs'

const writes = 100

/** One row is changed and its new value awaited, and so on. The larger tables take some libraries minutes to fill. */
const growthOf = ({ id, title, tables, query, change, start }, size) =>
  reactive({
    id: `reactive-growth-${id}-${size / 1000}k`,
    title: `${title}: change → new value, ${size.toLocaleString('en')} rows`,
    slow: size > sizes[0],
    async prepare(session, _shape, _owner, { quick }) {
      const models = {}
      for (const { count, values, ...table } of tables) {
        const rows = rowsOf((id) => values(id, size), 1, count(size))
        models[table.name] = await fill(session, table, rows)
      }
      const streams = await openStreams(session, [query])
      const [stream] = streams
      const showing = start(models, query)
      const { column } = change
      const table = tables.find(({ name }) => name === change.table)
      const { run } = session.prepare({ kind: 'update', table, columns: [column] })
      let i = 0
      const write = async () => {
        const row = models[change.table].get(change.id(i++, size))
        const before = row[column]
        row[column] = change.next(before)
        stream.expect(showing(row, before))
        await run([row[column], row.id])
        return 1
      }
      return await burstTask({ writes, quick }, { session, streams, model: models, write, each: true })
    },
  })

export const growth = sizes.flatMap((size) => shapes.map((shape) => growthOf(shape, size)))
