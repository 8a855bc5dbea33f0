import { random } from '../../random.mjs'
import { byOwner, owners, rows, seed, table, values, writes } from '../cases/owners.mjs'
import { burstTask, fill, reactive, rowsOf } from '../define.mjs'
import { openStreams } from '../stream.mjs'

export const ownersFanOut = reactive({
  id: 'reactive-a11b-owners',
  title: `update of a random row, ${owners} live queries of ${rows / owners} rows by owner`,
  async prepare(session, _shape, _owner, { quick }) {
    const model = await fill(session, table, rowsOf(values, 1, rows))
    const byOwners = Array.from({ length: owners }, (_, owner) => byOwner(owner))
    const streams = await openStreams(session, byOwners)
    const { run } = session.prepare({ kind: 'update', table, columns: ['value'] })
    const pick = random(seed)
    let value = rows
    const write = async () => {
      const id = pick(rows) + 1
      const row = model.get(id)
      row.value = ++value
      const shows = row.value
      const place = Math.floor((id - 1) / owners)
      streams[row.owner_id].expect((shown) => shown[place].value === shows)
      await run([shows, id])
      return 1
    }
    return await burstTask({ writes, quick }, { session, streams, model, write })
  },
})
