import { createServer } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { columns, insertCity } from '../data/cities.js'
import { HttpError, readJson, sendJson } from '../lib/wire.js'
import { lines } from './ndjson.js'

/**
 * A small web service on a database of cities.
 *
 *   GET  /cities?country=CH&limit=20   JSON array, made by the database: no row becomes a JavaScript object
 *   GET  /cities.ndjson?country=CH     all of them, one JSON object per line, as fast as the client reads
 *   GET  /cities/2657896               one city, or 404
 *   POST /cities                       adds the city in the body, 201
 *
 * @param {import('resqlite').Database} db
 * @returns {import('node:http').Server} not listening yet
 */
export function createApp(db) {
  return createServer((request, response) => {
    answer(db, request, response).catch((error) => failed(response, error))
  })
}

async function answer(db, request, response) {
  const url = new URL(request.url, 'http://localhost')
  const route = `${request.method} ${url.pathname}`
  const [, id] = /^GET \/cities\/(\d+)$/.exec(route) ?? []
  if (route === 'GET /cities') await list(db, url.searchParams, response)
  else if (route === 'GET /cities.ndjson') await streamAll(db, url.searchParams, response)
  else if (id) await one(db, Number(id), response)
  else if (route === 'POST /cities') await add(db, await readJson(request), response)
  else throw new HttpError(404, `nothing at ${route}`)
}

async function list(db, query, response) {
  const limit = Number(query.get('limit') ?? 100)
  if (!Number.isInteger(limit) || limit < 1) throw new HttpError(400, 'limit is a positive whole number')
  const sql = 'SELECT * FROM cities WHERE country = ? ORDER BY population DESC LIMIT ?'
  sendJson(response, 200, await db.selectBytes(sql, [country(query), limit]))
}

async function streamAll(db, query, response) {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const rows = db.iterate('SELECT * FROM cities WHERE country = ?', [country(query)], { signal: gone.signal })
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  await pipeline(lines(rows), response)
}

async function one(db, id, response) {
  const city = await db.selectOne('SELECT * FROM cities WHERE id = ?', [id])
  if (!city) throw new HttpError(404, `no city ${id}`)
  sendJson(response, 200, JSON.stringify(city))
}

async function add(db, city, response) {
  const missing = columns.filter((column) => city[column] === undefined)
  if (missing.length > 0) throw new HttpError(400, `missing: ${missing.join(', ')}`)
  const values = columns.map((column) => city[column])
  await db.execute(insertCity, values).catch((error) => {
    if (error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY') throw new HttpError(409, `city ${city.id} exists`)
    throw error
  })
  sendJson(response, 201, JSON.stringify({ id: city.id }))
}

function country(query) {
  const code = query.get('country')
  if (!/^[A-Z]{2}$/.test(code ?? '')) throw new HttpError(400, 'country is two capital letters')
  return code
}

function failed(response, error) {
  if (response.headersSent) return response.destroy()
  const known = error instanceof HttpError
  if (!known) console.error(error)
  sendJson(response, known ? error.status : 500, JSON.stringify({ error: known ? error.message : 'failed' }))
}
