import { Hono } from 'hono'
import { Database } from 'resqlite'
import { sseResponse } from 'resqlite/sse'

const db = await Database.open(process.env.DATABASE ?? 'tasks.db')
await db.exec('CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY, title TEXT NOT NULL)')
const tasks = 'SELECT id, title FROM tasks ORDER BY id'

const app = new Hono()
app.get('/tasks', async (c) => c.json(await db.select(tasks)))
app.get('/events', (c) => sseResponse(db.stream(tasks), c.req.raw, { key: 'id' }))
app.post('/tasks', async (c) => {
  const { title } = await c.req.json()
  const { rows } = await db.execute('INSERT INTO tasks (title) VALUES (?) RETURNING id, title', [title])
  return c.json(rows[0])
})

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: process.env.PORT ?? 3000,
  fetch: app.fetch,
  idleTimeout: 60, // seconds; server-sent events send a comment every 15
})
console.log(`http://127.0.0.1:${server.port}`)
