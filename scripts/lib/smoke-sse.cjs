// A step of smoke.cjs: server-sent events, from the server of the runtime by `sseResponse`, and from `node:http` by `sendSSE`.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { createServer } = require('node:http')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

const NAMES = 'SELECT id, name FROM t WHERE id <= 2 ORDER BY id'

exports.followOver = async function followOver(db, packageFolder) {
  const { sendSSE, sseResponse } = require(join(packageFolder, 'dist', 'sse'))
  const { remoteQuery } = await import(pathToFileURL(join(packageFolder, 'dist', 'client', 'index.mjs')))
  const live = () => db.stream(NAMES)
  const servers = [await ofNode((_, response) => void sendSSE(live(), response, { key: 'id' }))]
  const own = ofRuntime((request) => sseResponse(live(), request, { key: 'id' }))
  if (own !== undefined) servers.push(own)
  for (const { port, stop } of servers) {
    await follow(db, remoteQuery(`http://127.0.0.1:${port}/`))
    while ((await db.diagnostics()).streams.open > 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await stop()
  }
}

/** Has the rows, then the one that changes, and leaves. */
async function follow(db, remote) {
  const name = `changed ${performance.now()}`
  let arrived
  const stop = remote.subscribe((rows) => arrived?.(rows))
  await new Promise((resolve) => {
    arrived = resolve
  })
  const [first] = remote.current
  const changed = new Promise((resolve) => {
    arrived = resolve
  })
  await db.execute('UPDATE t SET name = ? WHERE id = 2', [name])
  const rows = await changed
  assert.equal(rows[0], first)
  assert.equal(rows[1].name, name)
  stop()
}

async function ofNode(answer) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: server.address().port, stop: () => new Promise((resolve) => server.close(resolve)) }
}

function ofRuntime(answer) {
  const { Bun, Deno } = globalThis
  if (Bun !== undefined) {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: answer })
    return { port: server.port, stop: () => server.stop(true) }
  }
  if (Deno !== undefined) {
    const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, answer)
    return { port: server.addr.port, stop: () => server.shutdown() }
  }
  return undefined
}
