import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Starts a worker that changes rows of a file on request, through the engine that this process has open. */
export async function startWriter(file) {
  const worker = new Worker(new URL('writer-thread.mjs', import.meta.url), { workerData: { file } })
  const answer = async () => (await once(worker, 'message'))[0]
  await answer()
  return {
    offerChanges(task) {
      worker.postMessage(task)
      return answer()
    },
    async close() {
      worker.postMessage('close')
      await once(worker, 'exit')
    },
  }
}
