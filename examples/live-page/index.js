// Serves a live list on http://127.0.0.1:3000 (PORT chooses another port), from a database file in this folder. Guests vote
// all the time; open the page twice, or write to the file with another program, and see it change.
//
//   node examples/live-page/index.js

import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Database } from 'resqlite'
import { serve } from '../lib/serve.js'
import { createApp } from './app.js'
import { prepare, ranking, vote } from './dishes.js'

const file = join(dirname(fileURLToPath(import.meta.url)), 'dishes.db')
const db = await Database.open(file)
await prepare(db)

const server = createApp(db)
console.log(await serve(server))
console.log(`sqlite3 ${file} "UPDATE dishes SET votes = votes + 10 WHERE name = 'Rösti'"`)

const guests = setInterval(async () => {
  const dishes = await db.select(ranking)
  const wanted = dishes[Math.floor(Math.random() * dishes.length)]
  if (wanted) await vote(db, wanted.id)
}, 1000)

process.once('SIGINT', () => {
  clearInterval(guests)
  server.close(() => db.close())
  server.closeAllConnections()
})
