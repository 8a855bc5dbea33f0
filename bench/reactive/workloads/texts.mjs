import { barrier, byMarker, length, outsider, rowsEach, streams, table, values } from '../cases/texts.mjs'
import { burstTask, fill, reactive, rowsOf } from '../define.mjs'
import { openStreams } from '../stream.mjs'

const unchanged = Array.from({ length: streams }, (_, marker) => byMarker(marker))

export const longUnchanged = reactive({
  id: 'reactive-long-unchanged',
  title: `update → new value, beside ${streams} live queries of ${rowsEach} texts of ${length / 1024} KiB that stay`,
  fewer: true,
  async prepare(session, _shape, _owner, { quick }) {
    const model = await fill(session, table, rowsOf(values, 1, outsider))
    const opened = await openStreams(session, [...unchanged, barrier])
    const shows = opened.at(-1)
    const { run } = session.prepare({ kind: 'update', table, columns: ['body'] })
    let update = 0
    const write = async () => {
      const body = `body ${++update}`
      model.get(outsider).body = body
      shows.expect(([row]) => row.body === body)
      await run([body, outsider])
      return 1
    }
    return await burstTask({ writes: 50, quick }, { session, streams: opened, model, write, each: true })
  },
})
