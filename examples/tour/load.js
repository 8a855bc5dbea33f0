import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * Reads the data set in a thread of its own: what parsing leaves behind goes away with that thread, and is not
 * collected later in the middle of a measurement.
 */
export async function loadCities() {
  const worker = new Worker(new URL('./load-worker.js', import.meta.url))
  const [rows] = await once(worker, 'message')
  await once(worker, 'exit')
  globalThis.gc?.()
  return rows
}
