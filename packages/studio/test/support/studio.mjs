import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database } from 'resqlite'
import { remoteQuery } from 'resqlite/client'
import { TIMES } from '../../dist/server/limits.js'
import { makeStudio } from '../../dist/server/studio.js'

/** A new database in a folder of its own. */
export async function tempDatabase(t, schema) {
  const folder = mkdtempSync(join(tmpdir(), 'resqlite-studio-'))
  const db = await Database.open(join(folder, 'test.db'))
  t.after(async () => {
    await db.close()
    rmSync(folder, { recursive: true, force: true })
  })
  await db.exec(schema)
  return db
}

/** A studio for a database, on a server of its own. `times` are limits of time to replace. */
export async function serve(t, db, options = {}, times = {}) {
  const studio = makeStudio(db, options, { ...TIMES, ...times })
  const server = createServer((request, response) => {
    if (!studio(request, response)) response.writeHead(418).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    await studio.close()
    server.closeAllConnections()
    server.close()
  })
  return new Client(server.address().port, studio.token, options?.path ?? '')
}

/** Asks a studio as its page does, or differently. */
export class Client {
  constructor(port, token, path) {
    this.port = port
    this.token = token
    this.path = path
    this.url = `http://127.0.0.1:${port}${path}/#${token}`
  }

  /** Sends a request with its raw path and headers, which `fetch` would normalise. */
  async send(method, path, { headers = {}, body, token = this.token } = {}) {
    const authorization = token ? { authorization: `Bearer ${token}` } : {}
    const request = send({
      port: this.port,
      host: '127.0.0.1',
      method,
      path,
      headers: { host: `127.0.0.1:${this.port}`, ...authorization, ...headers },
    })
    // A server may answer, and end, before it has read everything.
    request.once('response', () => request.on('error', () => {}))
    request.end(body)
    const [response] = await once(request, 'response')
    const chunks = []
    if (response.headers['content-type'] === 'text/event-stream') {
      response.destroy()
      return { status: response.statusCode, headers: response.headers, text: '' }
    }
    for await (const chunk of response) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    return { status: response.statusCode, headers: response.headers, text }
  }

  async ask(path, body = {}, options = {}) {
    const headers = { 'content-type': 'application/json', ...options.headers }
    const answer = await this.send('POST', `${this.path}/api/${path}`, {
      ...options,
      headers,
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: JSON.parse(answer.text) }
  }

  /** What a live query of the studio sends first. */
  async firstRows(path, params) {
    const query = new URLSearchParams(params)
    const headers = { authorization: `Bearer ${this.token}` }
    const response = await fetch(`http://127.0.0.1:${this.port}${this.path}/live/${path}?${query}`, {
      headers,
    })
    let text = ''
    for await (const chunk of response.body) {
      text += Buffer.from(chunk).toString()
      if (!text.endsWith('\n\n')) continue // of a long event, each part would be searched again
      const [, data] = /^event: full\n(?:id: .*\n)?data: (.*)\n\n/m.exec(text) ?? []
      if (data !== undefined) return JSON.parse(data).added.map(({ row }) => row)
    }
    throw new Error(`no rows: ${response.status} ${text}`)
  }

  /** Follows a live query of the studio until its rows are as expected. */
  rowsUntil(path, params, accepts) {
    const address = `http://127.0.0.1:${this.port}${this.path}/live/${path}?${new URLSearchParams(params)}`
    const query = remoteQuery(address, { headers: { authorization: `Bearer ${this.token}` } })
    return new Promise((resolve, reject) => {
      const stop = query.subscribe((rows) => {
        if (!accepts(rows)) return
        stop()
        resolve(rows)
      }, reject)
    })
  }

  window(table, from = null, more = {}) {
    return this.firstRows('rows', { window: JSON.stringify({ schema: 'main', table, from, ...more }) })
  }
}
