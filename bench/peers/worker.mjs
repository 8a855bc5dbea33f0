// What many programs build for themselves: better-sqlite3 in one worker_thread, a message per call.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { version as driver } from './better-sqlite3.mjs'
import { transactionsInTurn } from './in-turn.mjs'

export const version = driver

export async function open(file, { synchronous }) {
  const worker = new Worker(new URL('./worker-thread.mjs', import.meta.url), {
    workerData: { file, synchronous },
  })
  await once(worker, 'message') // ready
  const waiting = new Map()
  let last = 0
  worker.on('message', ({ id, value, error }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (error) reject(error)
    else resolve(value)
  })
  const call = (kind, sql, params) =>
    new Promise((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve, reject })
      worker.postMessage({ id, kind, sql, params })
    })
  const exec = (sql) => call('exec', sql)
  return {
    sync: false,
    prepare: (sql) => ({
      all: (params) => call('all', sql, params),
      get: (params) => call('get', sql, params),
      run: (params) => call('run', sql, params),
    }),
    exec,
    pragma: (name) => call('pragma', name),
    jsonBytes: (sql) => () => call('json', sql).then((buffer) => new Uint8Array(buffer)),
    batch: (sql) => (sets) => call('batch', sql, sets),
    transaction: transactionsInTurn(exec, {
      run: (sql, params) => call('run', sql, params),
      get: (sql, params) => call('get', sql, params),
      all: (sql, params) => call('all', sql, params),
      batch: (sql, sets) => call('batch', sql, sets),
    }),
    close: async () => {
      await call('close')
      await worker.terminate()
    },
  }
}
