// The other side of worker.mjs. A batch inside a transaction is a savepoint of it.
import { parentPort, workerData } from 'node:worker_threads'
import { open } from './better-sqlite3.mjs'
import { cached } from './cached.mjs'

const session = open(workerData.file, workerData)
const statement = cached(session.prepare)
const json = cached(session.jsonBytes)
const batch = cached(session.batch)

const answers = {
  all: ({ sql, params }) => statement(sql).all(params),
  get: ({ sql, params }) => statement(sql).get(params),
  run: ({ sql, params }) => statement(sql).run(params),
  exec: ({ sql }) => session.exec(sql),
  pragma: ({ sql }) => session.pragma(sql),
  batch: ({ sql, params }) => batch(sql)(params),
  json({ sql }) {
    const bytes = json(sql)()
    // A transferable buffer of its own: small Buffers are slices of a pool that must not be given away.
    return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : new Uint8Array(bytes).buffer
  },
  close: () => session.close(),
}

parentPort.on('message', (request) => {
  try {
    const value = answers[request.kind](request)
    parentPort.postMessage({ id: request.id, value }, value instanceof ArrayBuffer ? [value] : [])
  } catch (error) {
    parentPort.postMessage({ id: request.id, error })
  }
})
parentPort.postMessage('ready')
