import files from '@fastify/static'
import fastify from 'fastify'
import { Database } from 'resqlite'
import { sendSSE } from 'resqlite/sse'

const db = await Database.open(process.env.DATABASE ?? 'tasks.db')
await db.exec('CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY, title TEXT NOT NULL)')
const tasks = db.stream('SELECT id, title FROM tasks ORDER BY id')

const app = fastify({ forceCloseConnections: true }) // app.close() ends the streams of events, too
app.register(files, { root: `${import.meta.dirname}/dist` })

app.get('/events', (_, reply) => {
  reply.hijack()
  void sendSSE(tasks, reply.raw, { key: 'id' })
})

const body = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 } } }
app.post('/tasks', { schema: { body } }, async (request) => {
  const { title } = request.body
  const { rows } = await db.execute('INSERT INTO tasks (title) VALUES (?) RETURNING id, title', [title])
  return rows[0]
})

console.log(await app.listen({ port: process.env.PORT ?? 3000, host: '127.0.0.1' }))

process.once('SIGTERM', async () => {
  await app.close()
  await db.close()
})
