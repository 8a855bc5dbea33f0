import { join } from 'node:path'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { type Database, type LiveIterator, ResqliteError } from 'resqlite'
import { parseNote, parseNotes } from './input.js'
import { addNote, importNotes, list, liveNotes, search, similar } from './notes.js'

/** While a large import runs, other writes wait for it: a client gets this many milliseconds to send its notes. */
const importTime = 30_000
const [head, end] = [Buffer.from('data: '), Buffer.from('\n\n')]

/** The routes, as the README lists them. Backups go into `folder`. */
export function createApp(db: Database, folder: string): Hono {
  const app = new Hono()
  const live = liveNotes(db)

  app.use(async (c, next) => {
    await next()
    if (!db.open) c.header('connection', 'close') // shutting down: the client shall not ask here again
  })

  app.get('/notes', async (c) => json(await list(db, c.req.query('tag'))))
  app.get('/search', async (c) => json(await search(db, c.req.query('q') ?? '')))
  app.get('/similar', async (c) => json(await similar(db, c.req.query('to') ?? '')))
  app.post('/notes', async (c) => c.json({ id: await addNote(db, parseNote(await c.req.text())) }, 201))

  app.post('/notes/import', async (c) => {
    const { body, signal } = c.req.raw
    if (body === null) throw new HTTPException(400, { message: 'the body has a note per line' })
    const limit = AbortSignal.any([signal, AbortSignal.timeout(importTime)])
    return c.json({ imported: await importNotes(db, parseNotes(body), limit) })
  })

  app.get('/live', (c) => {
    const events = live.patchesBytes({ key: 'id' }).map(({ bytes }) => Buffer.concat([head, bytes, end]))
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
    return c.body(streamOf(events, db), 200, headers)
  })

  app.post('/backup', async (c) =>
    c.json(await db.backup(join(folder, 'notes.backup.db'), { overwrite: true })),
  )

  app.get('/export', async () => {
    return new Response(await db.serialize(), { headers: { 'content-type': 'application/vnd.sqlite3' } })
  })

  app.onError((error, c) => {
    if (error instanceof HTTPException) return c.json({ error: error.message }, error.status)
    const code = error instanceof ResqliteError ? error.code : undefined
    if (code === 'RESQLITE_CLOSED') return c.json({ error: 'the server is shutting down' }, 503)
    if (code === 'RESQLITE_ABORTED') return c.json({ error: 'this took too long' }, 408)
    console.error(error)
    return c.json({ error: 'failed' }, 500)
  })

  return app
}

function json(body: Uint8Array): Response {
  return new Response(body, { headers: { 'content-type': 'application/json' } })
}

/** Ends when the client leaves, and without an error when the database closes. */
function streamOf(events: LiveIterator<Uint8Array>, db: Database): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await events.next()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        if (db.open) throw error
        controller.close()
      }
    },
    async cancel() {
      await events.return()
    },
  })
}
