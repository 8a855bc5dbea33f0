// Each tool builds this: a database, a live query over HTTP, and a client that follows it.
import { createServer } from 'node:http'
import { Database } from 'resqlite'
import { remoteQuery } from 'resqlite/client'
import { sendSSE } from 'resqlite/sse'

const db = await Database.open(':memory:')
await db.exec("CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO tasks VALUES (1, 'tea')")
const live = db.stream('SELECT id, title FROM tasks')
const server = createServer((_, response) => void sendSSE(live, response, { key: 'id' }))
await new Promise((resolve) => server.listen(0, resolve))

const remote = remoteQuery(`http://localhost:${server.address().port}`)
const rows = await new Promise((resolve) => {
  const stop = remote.subscribe((rows) => {
    stop()
    resolve(rows)
  })
})
await db.close()
server.closeAllConnections()
server.close()
console.log(JSON.stringify(rows))
