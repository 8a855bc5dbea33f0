import { join } from 'node:path'
import { app, BrowserWindow, MessageChannelMain } from 'electron'
import { Database } from 'resqlite'
import { servePort } from 'resqlite/message-port'
import { sseResponse } from 'resqlite/sse'

void app.whenReady().then(start)
app.on('window-all-closed', () => app.quit())

async function start() {
  const db = await Database.open(join(app.getPath('userData'), 'tasks.db'))
  await db.exec('CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY, title TEXT NOT NULL)')
  const tasks = db.stream('SELECT id, title FROM tasks ORDER BY id')

  /** What the page asks for, as a server would answer. */
  async function answer(request) {
    if (request.method === 'GET') return sseResponse(tasks, request, { key: 'id' })
    const { title } = await request.json()
    await db.execute('INSERT INTO tasks (title) VALUES (?)', [title])
    return new Response(null, { status: 204 })
  }

  const window = new BrowserWindow({ webPreferences: { preload: join(import.meta.dirname, 'preload.cjs') } })
  window.webContents.on('did-finish-load', () => {
    const { port1, port2 } = new MessageChannelMain()
    servePort(port1, answer)
    window.webContents.postMessage('port', null, [port2])
  })
  await window.loadFile('index.html')
}
