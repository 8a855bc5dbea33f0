// A worker that opens a file and writes to it when it is told to: { rows, seconds, seed } → what `offerChanges` gives.
import { parentPort, workerData } from 'node:worker_threads'
import { Database } from '../../peers/resqlite.mjs'
import { offerChanges } from './changes.mjs'

const db = await Database.open(workerData.file)
parentPort.on('message', async (message) => {
  if (message === 'close') {
    await db.close()
    parentPort.close()
  } else {
    parentPort.postMessage(await offerChanges(db, message))
  }
})
parentPort.postMessage('open')
