// Serves the tasks on http://127.0.0.1:3000 (PORT chooses another port), from a database file in this folder. Open the page
// twice, or write to the file with another program, and see it change. Stop this program and start it again: the page goes on.
//
//   node examples/react-tasks/index.js

import { fileURLToPath } from 'node:url'
import { Database } from 'resqlite'
import { serve } from '../lib/serve.js'
import { createApp, prepare } from './app.js'

const db = await Database.open(fileURLToPath(new URL('tasks.db', import.meta.url)))
await prepare(db)
const server = await createApp(db)
console.log(await serve(server))

process.once('SIGINT', async () => {
  await db.close() // ends the events of all pages
  server.close()
  server.closeIdleConnections()
})
