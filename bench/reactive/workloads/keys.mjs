import { random } from '../../random.mjs'
import { byKey, rows, seed, streams, table, values, watched, writes } from '../cases/keys.mjs'
import { burstTask, fill, reactive, rowsOf } from '../define.mjs'
import { openStreams } from '../stream.mjs'

export const keys = reactive({
  id: 'reactive-a11-keys',
  version: 'v2',
  title: `update of a random row out of ${rows.toLocaleString('en')}, ${streams} live queries of one row by key`,
  async prepare(session, _shape, _owner, { quick }) {
    const model = await fill(session, table, rowsOf(values, 1, rows))
    const opened = await openStreams(session, watched.map(byKey))
    const streamOf = new Map(watched.map((id, i) => [id, opened[i]]))
    const { run } = session.prepare({ kind: 'update', table, columns: ['body', 'updated_at'] })
    let pick
    let updates = 0
    const restart = () => {
      pick = random(seed)
    }
    const update = async (id) => {
      const row = model.get(id)
      row.body = `body ${++updates}`
      row.updated_at = updates
      const { body } = row
      const stream = streamOf.get(id)
      stream?.expect(([shown]) => shown.body === body)
      await run([body, updates, id])
      return stream ? 1 : 0
    }
    return await burstTask(
      { writes, quick },
      {
        session,
        streams: opened,
        model,
        write: () => update(pick(rows) + 1),
        before: restart,
        probe: () => update(watched[0]),
      },
    )
  },
})
