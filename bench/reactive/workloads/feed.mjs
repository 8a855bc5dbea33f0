import { random } from '../../random.mjs'
import { latest, posts, quickRows, rows, seed, shown, table, writes } from '../cases/feed.mjs'
import { burstTask, fill, reactive } from '../define.mjs'
import { openStreams } from '../stream.mjs'

export const feed = reactive({
  id: 'reactive-a6-feed',
  title: `like of a random post out of ${rows.toLocaleString('en')} beside a live list of the latest ${shown}`,
  async prepare(session, _shape, _owner, { quick }) {
    const count = quick ? quickRows : rows
    const model = await fill(session, table, posts(count))
    const streams = await openStreams(session, [latest])
    const [stream] = streams
    const places = new Map(latest.rows(model).map(({ id }, place) => [id, place]))
    const { run } = session.prepare({ kind: 'increment', table, columns: ['like_count'] })
    const pick = random(seed ^ 0xdead)
    const like = async (id) => {
      const likes = ++model.get(id).like_count
      const place = places.get(id)
      if (place !== undefined) stream.expect((rows) => rows[place].like_count === likes)
      await run([1, id])
      return place === undefined ? 0 : 1
    }
    const [newest] = places.keys()
    return await burstTask(
      { writes, quick },
      { session, streams, model, write: () => like(pick(count) + 1), probe: () => like(newest) },
    )
  },
})
