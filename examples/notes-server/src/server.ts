import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Database } from 'resqlite'

export async function listen(app: Hono, port: number): Promise<Server> {
  const server = createServer(getRequestListener(app.fetch)).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/**
 * Ends without losing what was acknowledged: takes no new connections, lets the calls under way finish for `timeout`
 * milliseconds, and gives their answers half a second to be sent.
 */
export async function shutDown(server: Server, db: Database, timeout: number): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await db.close({ timeout })
  const impatient = setTimeout(() => server.closeAllConnections(), 500)
  await closed
  clearTimeout(impatient)
}
