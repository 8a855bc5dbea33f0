// Serves the cities of the world on http://127.0.0.1:3000 (PORT chooses another port), from a database file in this folder.
//
//   node examples/http-server/index.js

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Database } from 'resqlite'
import { serve } from '../lib/serve.js'
import { createApp } from './app.js'
import { fill } from './fill.js'

const file = join(dirname(fileURLToPath(import.meta.url)), 'cities.db')
const db = await Database.open(file)
await fill(db)

const server = createApp(db)
const origin = await serve(server)
console.log(`${origin}/cities?country=CH`)
console.log(`${origin}/cities.ndjson?country=US`)

process.once('SIGINT', () => {
  server.close(() => db.close())
  server.closeAllConnections()
})
