import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { sendSSE } from 'resqlite/sse'
import { HttpError, readJson, sendJson } from '../lib/wire.js'

const list = 'SELECT id, title, done FROM tasks ORDER BY place'

/** Each write answers with its commit, so that the page knows when the list contains it. */
const writes = {
  POST: (db, { id, title, done }) =>
    db.execute('INSERT INTO tasks(id, title, done) VALUES (?, ?, ?)', [id, title, done]),
  PUT: (db, { id, title, done }) =>
    db.execute('UPDATE tasks SET title = ?, done = ? WHERE id = ?', [title, done, id]),
  DELETE: (db, { id }) => db.execute('DELETE FROM tasks WHERE id = ?', [id]),
}

/** Makes the table, unless the database has it already. */
export async function prepare(db) {
  await db.exec(`
    CREATE TABLE IF NOT EXISTS tasks (
      place INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 40),
      done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1))
    )
  `)
}

/**
 * A list of tasks in React, live, whose writes are shown before the server has answered.
 *
 *   GET              /        the page, and /page.js
 *   GET              /tasks   the tasks, and what changes in them, as server-sent events
 *   POST PUT DELETE  /tasks   { "id": …, "title": …, "done": 0 }: 200 with { "commit": 17 }, or 400
 *
 * @param {import('resqlite').Database} db
 * @returns {Promise<import('node:http').Server>} not listening yet
 */
export async function createApp(db) {
  const files = {
    '/': ['text/html; charset=utf-8', await readFile(new URL('page.html', import.meta.url))],
    '/page.js': ['text/javascript', await bundle(new URL('page.jsx', import.meta.url))],
  }
  return createServer(async (request, response) => {
    const { method, url } = request
    try {
      if (method === 'GET' && url === '/tasks') await sendSSE(db.stream(list), response, { key: 'id' })
      else if (method === 'GET' && Object.hasOwn(files, url)) sendFile(response, files[url])
      else if (url === '/tasks' && Object.hasOwn(writes, method)) await write(db, request, response)
      else throw new HttpError(404, `nothing at ${method} ${url}`)
    } catch (error) {
      failed(response, error)
    }
  })
}

async function write(db, request, response) {
  const { commit } = await writes[request.method](db, await readJson(request))
  sendJson(response, 200, JSON.stringify({ commit }))
}

function sendFile(response, [type, body]) {
  response.writeHead(200, { 'content-type': type }).end(body)
}

function failed(response, error) {
  const { status = 500, message, code = '' } = error
  if (code.startsWith('SQLITE_CONSTRAINT')) refuse(response, 400, 'A title has 1 to 40 characters')
  else if (error instanceof HttpError) refuse(response, status, message)
  else {
    console.error(error)
    refuse(response, 500, 'failed')
  }
}

function refuse(response, status, error) {
  if (response.headersSent) response.destroy()
  else sendJson(response, status, JSON.stringify({ error }))
}

async function bundle(entry) {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  return outputFiles[0].text
}
