import { once } from 'node:events'
import { createServer } from 'node:http'
import { createStudio } from '@resqlite/studio'
import { Writers } from './writers.js'

/** Pause between two writes of a writer, in ms: quick enough to see, slow enough to follow. */
const pause = 20

/** Serves a studio for what the tour has made, while three writers go on. */
export async function openTourStudio(db, rows) {
  const writers = new Writers(db, rows, pause)
  const studio = createStudio(db)
  const server = createServer(studio).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/#${studio.token}`,
    async close() {
      await writers.stop()
      await studio.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
