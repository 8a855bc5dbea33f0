// Serves notes on http://127.0.0.1:3000 (PORT chooses another port), from a file in the working directory.

import { createApp } from './app.js'
import { listen, shutDown } from './server.js'
import { logSlowQueries } from './slow-queries.js'
import { openStore } from './store.js'

logSlowQueries(console.warn, 100)
const db = await openStore('notes.db')
const port = Number(process.env.PORT ?? 3000)
const server = await listen(createApp(db, '.'), port)
console.log(`http://127.0.0.1:${port}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => shutDown(server, db, 5000))
}
