import { bulkSize, mergeSize, merges, payload, table, values } from '../cases/external.mjs'
import { counting } from '../cases/small.mjs'
import { burstTask, fill, reactive, rowsOf } from '../define.mjs'
import { addRow, trimModel } from '../model.mjs'
import { allArrived, openStreams } from '../stream.mjs'

const batches = 100
const first = [[0, 0, payload(0)]] // a table that has always had a row: not every peer counts none as 0

/** A7, first half. */
export const bulk = reactive({
  id: 'reactive-a7-bulk',
  title: `batch of ${bulkSize} rows into a table that is filled beside a live count`,
  fewer: true,
  async prepare(session, _shape, _owner, { quick }) {
    const model = await fill(session, table, first)
    const streams = await openStreams(session, [counting(table.name)])
    const [stream] = streams
    const trim = session.prepare({ kind: 'trim', table })
    const insert = session.prepare({ kind: 'insert', table })
    const before = async () => {
      if (model.size === 1) return
      trimModel(model, 0)
      stream.expect(([{ n }]) => n === 1)
      await trim.run([0])
      await allArrived(streams)
    }
    const write = async (i) => {
      const sets = rowsOf(values, i * bulkSize + 1, bulkSize)
      for (const set of sets) addRow(model, table, set)
      const { size } = model
      stream.expect(([{ n }]) => n === size)
      await insert.batch(sets)
      return 1
    }
    return await burstTask({ writes: batches, quick }, { session, streams, model, write, before })
  },
})

/** A7, second half. */
export const merge = reactive({
  id: 'reactive-a7-merge',
  title: `replacement of ${mergeSize} rows beside a live count, which stays`,
  fewer: true,
  async prepare(session, _shape, _owner, { quick }) {
    const model = await fill(session, table, rowsOf(values, 0, quick ? 10_000 : batches * bulkSize))
    const streams = await openStreams(session, [counting(table.name)])
    const replace = session.prepare({ kind: 'replace', table })
    let merged = 0
    const write = async (i) => {
      merged++
      const id = (at) => i * mergeSize + at
      const sets = Array.from({ length: mergeSize }, (_, at) => [
        id(at),
        id(at),
        payload(`${id(at)}, ${merged}`),
      ])
      for (const set of sets) addRow(model, table, set)
      await replace.batch(sets)
      return 0
    }
    const insert = session.prepare({ kind: 'insert', table })
    const probe = async () => {
      const set = values(model.size)
      addRow(model, table, set)
      const { size } = model
      streams[0].expect(([{ n }]) => n === size)
      await insert.run(set)
    }
    const task = await burstTask({ writes: 10 * merges, quick }, { session, streams, model, write, probe })
    const measure = async () => {
      const sample = await task.measure()
      await assertMerged(session, model)
      return sample
    }
    return { ...task, measure }
  },
})

async function assertMerged(session, model) {
  const rows = await session.all({
    sql: 'SELECT id, payload FROM items ORDER BY id',
    params: [],
    tanstack: (q, { items }) => q.from({ item: items }).orderBy(({ item }) => item.id),
  })
  for (const [i, { payload }] of [...model.values()].entries())
    if (rows[i]?.payload !== payload) throw new Error(`row ${i} has ${rows[i]?.payload}, not ${payload}`)
}
