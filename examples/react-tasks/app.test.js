import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Database } from 'resqlite'
import { openPage, skip } from '../lib/browser.js'
import { createApp, prepare } from './app.js'

describe('the tasks in React', { skip }, () => {
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'resqlite-tasks-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

  // G179
  it('shows what is written at once, and once only', async (t) => {
    const { db, url, hold } = await start(t)
    const { page, shows, complaints } = await openPage(t, url)
    await shows('[role=status]', ['live'])
    const release = hold()
    await page.fill('form input', 'Rake')
    await page.click('form button')
    await shows('label', ['Rake'])
    assert.deepEqual(await db.select('SELECT * FROM tasks'), [])
    await page.evaluate("document.querySelector('li').dataset.kept = 'yes'")
    release()
    await stored(db, ['Rake'])
    await page.click('label input')
    while ((await db.selectOne('SELECT done FROM tasks')).done === 0);
    await shows('label', ['Rake'])
    assert.equal(await page.isChecked('label input'), true)
    assert.equal(await page.getAttribute('li', 'data-kept'), 'yes')
    await page.click('li button')
    await shows('label', [])
    await stored(db, [])
    assert.deepEqual(complaints, [])
  })

  // G179
  it('takes back what the server refuses, and says why', async (t) => {
    const { url, hold } = await start(t)
    const { page, shows } = await openPage(t, url)
    await shows('[role=status]', ['live'])
    const release = hold()
    const title = 'far too long '.repeat(9)
    await page.fill('form input', title)
    await page.click('form button')
    await shows('label', [title])
    release()
    await shows('label', [])
    await shows('[role=alert]', ['A title has 1 to 40 characters'])
    assert.equal(await page.inputValue('form input'), title)
  })

  // G179
  it('shows what others write, and goes on when the server was killed and has started again', async (t) => {
    const first = await start(t)
    const { page, shows } = await openPage(t, first.url)
    await add(first.db, 'Rake')
    await shows('label', ['Rake'])
    await first.kill()
    await shows('[role=status]', ['stale'])
    await page.fill('form input', 'Dig')
    await page.click('form button')
    await shows('[role=alert]', ['The server cannot be reached. Nothing was saved.'])
    assert.equal(await page.inputValue('form input'), 'Dig')
    const second = await start(t, first)
    await add(second.db, 'Mow')
    await shows('label', ['Rake', 'Mow'])
    await shows('[role=status]', ['live'])
    await shows('[role=alert]', [''])
  })
})

let folder
let files = 0

const add = (db, title) => db.execute('INSERT INTO tasks(id, title) VALUES (?, ?)', [title, title])

async function stored(db, titles) {
  const sql = 'SELECT title FROM tasks ORDER BY place'
  while (JSON.stringify((await db.select(sql)).map(({ title }) => title)) !== JSON.stringify(titles));
}

/** A server; at the place of another one, if there was one. `hold` keeps writes from being answered until it is released. */
async function start(t, { file = join(folder, `${++files}.db`), port = 0 } = {}) {
  const db = await Database.open(file)
  await prepare(db)
  const app = await createApp(db)
  const [answer] = app.listeners('request')
  let held
  app.removeListener('request', answer)
  app.on('request', async (request, response) => {
    if (request.method !== 'GET') await held
    answer(request, response)
  })
  app.listen(port, '127.0.0.1')
  await once(app, 'listening')
  const kill = async () => {
    app.closeAllConnections()
    app.close()
    await db.close()
  }
  t.after(kill)
  const hold = () => {
    let release
    held = new Promise((resolve) => {
      release = resolve
    })
    return release
  }
  const { port: at } = app.address()
  return { db, file, port: at, url: `http://127.0.0.1:${at}/`, kill, hold }
}
