import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { sendJson } from '../lib/wire.js'
import { createApp } from '../live-page/app.js'

const files = {
  '/': ['./page.html', 'text/html; charset=utf-8'],
  '/cluster.js': ['./page.js', 'text/javascript'],
}

/**
 * The page of a node. The list, its events and the votes are those of the live page, which knows nothing of a cluster; besides:
 *
 *   GET /status   how the node is doing, and where the pages of the others are
 *
 * @param {import('@resqlite/cluster').ClusterDatabase} db
 * @returns {import('node:http').Server} not listening yet
 */
export function createPages(db, { name, others }) {
  const live = createApp(db)
  return createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost')
    if (pathname === '/status') return sendJson(response, 200, JSON.stringify({ name, others, ...db.status }))
    if (request.method !== 'GET' || !Object.hasOwn(files, pathname))
      return live.emit('request', request, response)
    const [file, type] = files[pathname]
    const body = await readFile(new URL(file, import.meta.url))
    response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body)
  })
}
