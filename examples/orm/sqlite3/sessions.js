// Sessions of Express in a file with connect-sqlite3, and how often each has come, live. `node sessions.js` needs the package.json beside
// it.

import { once } from 'node:events'
import connectSqlite3 from 'connect-sqlite3'
import express from 'express'
import session from 'express-session'
import sqlite3 from 'sqlite3'

const SQLiteStore = connectSqlite3(session)
const db = new sqlite3.Database(process.argv[2] ?? 'sessions.db')
const store = new SQLiteStore({ db })
await once(store.client, 'connect')
await new Promise((done) => store.clear(done))

const app = express()
app.use(session({ store, secret: 'only for this example', resave: false, saveUninitialized: false }))
app.get('/', ({ session }, response) => {
  session.visits = (session.visits ?? 0) + 1
  response.send(`visit ${session.visits}`)
})
app.get('/leave', ({ session }, response) => session.destroy(() => response.send('bye')))
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')

// A live query on the sessions.
const visits = db.resqlite.stream("SELECT sess ->> 'visits' AS n FROM sessions ORDER BY n DESC").values()
const shown = async () => {
  const { value } = await visits.next()
  console.log(`live: ${value.map(({ n }) => n).join(', ') || 'nobody'}`)
}
await shown()

/** Opens a page, and tells the cookie of its session. */
async function open(path, cookie = '') {
  const { port } = server.address()
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { cookie } })
  console.log(await response.text())
  return response.headers.get('set-cookie')?.split(';')[0]
}
const ada = await open('/')
await shown()
await open('/', ada)
await shown()
await open('/')
await shown()
await open('/leave', ada)
await shown()

await visits.return()
server.close()
db.close()
