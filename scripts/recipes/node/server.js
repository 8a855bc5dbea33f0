import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { Database } from 'resqlite'
import { sendSSE } from 'resqlite/sse'

const db = await Database.open(process.env.DATABASE ?? 'tasks.db')
await db.exec('CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY, title TEXT NOT NULL)')
const tasks = 'SELECT id, title FROM tasks ORDER BY id'

const routes = {
  'GET /tasks': async (_, response) => sendJson(response, await db.selectBytes(tasks)),
  'GET /events': (_, response) => sendSSE(db.stream(tasks), response, { key: 'id' }),
  'POST /tasks': async (request, response) => {
    const { title } = await json(request)
    const { rows } = await db.execute('INSERT INTO tasks (title) VALUES (?) RETURNING id, title', [title])
    sendJson(response, JSON.stringify(rows[0]))
  },
}

function sendJson(response, json) {
  response.setHeader('content-type', 'application/json').end(json)
}

const server = createServer(async (request, response) => {
  const route = routes[`${request.method} ${request.url}`]
  try {
    if (route) await route(request, response)
    else response.writeHead(404).end()
  } catch (error) {
    console.error(error)
    // A response that breaks off must not look complete.
    if (response.headersSent) response.destroy()
    else response.writeHead(500).end()
  }
})
server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`)
})
