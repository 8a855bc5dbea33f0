import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { sendSSE } from 'resqlite/sse'
import { HttpError, readJson, sendJson } from '../lib/wire.js'
import { add, ranking, remove, vote } from './dishes.js'

/** The files that the browser loads, by path. It also loads the modules of `resqlite/client`, which need no bundler. */
const files = {
  '/': ['./page.html', 'text/html; charset=utf-8'],
  '/page.js': ['./page.js', 'text/javascript'],
}
const client = new URL('.', import.meta.resolve('resqlite/client'))

/**
 * A page on which everybody sees the same list, live.
 *
 *   GET    /                 the page
 *   GET    /events           the list, and what changes in it, as server-sent events
 *   POST   /dishes           adds the dish in the body, { "name": "Ramen" }: 201, or 409
 *   POST   /dishes/3/votes   one vote more: 204, or 404
 *   DELETE /dishes/3         takes it off the list: 204, or 404
 *
 * Nothing here tells anybody that the list has changed: the database does.
 *
 * @param {import('resqlite').Database} db
 * @returns {import('node:http').Server} not listening yet
 */
export function createApp(db) {
  const live = db.stream(ranking)
  return createServer((request, response) => {
    answer(db, live, request, response).catch((error) => failed(response, error))
  })
}

async function answer(db, live, request, response) {
  const { pathname } = new URL(request.url, 'http://localhost')
  const route = `${request.method} ${pathname}`
  const [, voted] = /^POST \/dishes\/(\d+)\/votes$/.exec(route) ?? []
  const [, removed] = /^DELETE \/dishes\/(\d+)$/.exec(route) ?? []
  const [, module] = /^GET \/client\/([\w-]+\.mjs)$/.exec(route) ?? []
  if (route === 'GET /events') await sendSSE(live, response, { key: 'id' })
  else if (route === 'POST /dishes') await addDish(db, await readJson(request), response)
  else if (voted) done(await vote(db, Number(voted)), voted, response)
  else if (removed) done(await remove(db, Number(removed)), removed, response)
  else if (module) await sendFile(new URL(module, client), 'text/javascript', response)
  else if (request.method === 'GET' && Object.hasOwn(files, pathname)) {
    const [name, type] = files[pathname]
    await sendFile(new URL(name, import.meta.url), type, response)
  } else throw new HttpError(404, `nothing at ${route}`)
}

async function addDish(db, { name }, response) {
  if (typeof name !== 'string' || name.trim() === '') throw new HttpError(400, 'name is a text')
  const id = await add(db, name.trim())
  if (id === undefined) throw new HttpError(409, `${name.trim()} is on the list`)
  sendJson(response, 201, JSON.stringify({ id }))
}

function done(found, id, response) {
  if (!found) throw new HttpError(404, `no dish ${id}`)
  response.writeHead(204).end()
}

async function sendFile(url, type, response) {
  const body = await readFile(url).catch(() => {
    throw new HttpError(404, 'no such file')
  })
  response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body)
}

function failed(response, error) {
  if (response.headersSent) return response.destroy()
  const known = error instanceof HttpError
  if (!known) console.error(error)
  const said = known ? { error: error.message } : { error: 'failed', code: error.code }
  sendJson(response, known ? error.status : 500, JSON.stringify(said))
}
