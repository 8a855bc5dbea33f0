// `npm run cluster`, without its keys. `npm run test:cluster` runs it, with RESQLITE_CLUSTER_LOG for the log.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { root } from '../lib/paths.mjs'

const log = process.env.RESQLITE_CLUSTER_LOG ?? 'nats'

describe(`npm run cluster on ${log}`, () => {
  it('a part that is killed costs no acknowledged write', async () => {
    const { status, output } = await run('--seconds', '20', '--kills', '4', '--seed', '7').ended
    assert.equal(status, 0, output)
    assert.match(output, /Nothing acknowledged was lost, nothing was done twice, all nodes are equal\./)
    assert.equal(output.match(/ {2}(killed|froze) /g).length, 4, output)
  })

  it('ends all that it has started when it is asked to end', async () => {
    const command = run('--seconds', '600', '--kills', '0')
    const pages = await command.pages()
    command.child.kill('SIGTERM')
    const { status, output } = await command.ended
    assert.equal(status, 1)
    assert.match(output, /ended by SIGTERM/)
    for (const page of pages) await assert.rejects(fetch(page))
  })

  it('says which port is taken', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address()
    const { status, output } = await run('--seconds', '1', '--port', String(Math.min(port, 65_533))).ended
    holder.close()
    assert.equal(status, 1)
    assert.match(output, new RegExp(`port ${port} .*--port`))
  })
})

function run(...args) {
  const all = ['scripts/cluster.mjs', '--log', log, ...args]
  if (!args.includes('--port')) all.push('--port', '0')
  const child = spawn(process.execPath, all, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const heard = []
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
      for (const hear of heard) hear()
    })
  const ended = once(child, 'close').then(([status]) => ({ status, output }))
  /** The addresses of the three pages, when they are there. */
  const pages = () =>
    new Promise((resolve, reject) => {
      ended.then(() => reject(new Error(output)))
      heard.push(() => {
        const urls = output.match(/http:\/\/127\.0\.0\.1:\d+/g) ?? []
        if (urls.length === 3) resolve(urls)
      })
    })
  return { child, ended, pages }
}
