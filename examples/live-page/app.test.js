import assert from 'node:assert/strict'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Database } from 'resqlite'
import { fold } from 'resqlite/client'
import { openPage, skip } from '../lib/browser.js'
import { createApp } from './app.js'
import { prepare, ranking } from './dishes.js'

describe('the live page', () => {
  let db
  let server
  let origin

  beforeEach(async () => {
    db = await Database.open(':memory:')
    await prepare(db)
    server = createApp(db).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${server.address().port}`
  })

  afterEach(async () => {
    server.close()
    server.closeAllConnections()
    await db.close()
  })

  it('serves the page and what it loads', async () => {
    const page = await fetch(origin)
    assert.match(page.headers.get('content-type'), /^text\/html/)
    const [, script] = /<script type="module" src="([^"]+)">/.exec(await page.text())
    for (const path of [script, '/client/index.mjs', '/client/remote-query.mjs']) {
      assert.equal((await fetch(origin + path)).headers.get('content-type'), 'text/javascript')
    }
  })

  it('begins with all rows', async () => {
    const { initial, added } = await (await connect()).next()
    assert.equal(initial, true)
    assert.deepEqual(rowsOf(added), await db.select(ranking))
  })

  it('sends the row that was added, and no other', async () => {
    const client = await connect()
    const { added: before } = await client.next()
    const { id } = await (await post('/dishes', { name: 'Dosa' })).json()
    const { initial, added, updated, removed, moved } = await client.next()
    const dosa = { index: before.length, row: { id, name: 'Dosa', votes: 0 } }
    assert.deepEqual([initial, added, updated, removed, moved], [false, [dosa], [], [], []])
  })

  it('sends a row that was voted for, with its place before and now', async () => {
    const client = await connect()
    const { index: from, row: last } = (await client.next()).added.at(-1)
    assert.equal((await post(`/dishes/${last.id}/votes`)).status, 204)
    const { updated } = await client.next()
    assert.deepEqual(updated, [{ from, index: 0, previous: last, row: { ...last, votes: 1 } }])
  })

  it('sends a row that was taken off', async () => {
    const client = await connect()
    const [first] = (await client.next()).added
    assert.equal((await fetch(`${origin}/dishes/${first.row.id}`, { method: 'DELETE' })).status, 204)
    assert.deepEqual((await client.next()).removed, [first])
  })

  it('gives the list of the database to whoever folds the patches', async () => {
    const client = await connect()
    let rows = fold([], await client.next())
    await db.executeBatch('UPDATE dishes SET votes = ? WHERE id = ?', [
      [5, 7],
      [4, 2],
      [4, 6],
      [1, 1],
    ])
    rows = fold(rows, await client.next())
    await db.exec('DELETE FROM dishes WHERE id IN (2, 3); UPDATE dishes SET votes = 9 - votes')
    rows = await foldUntil(await db.select(ranking), rows, client)
    await post('/dishes', { name: 'Dosa' })
    await foldUntil(await db.select(ranking), rows, client)
  })

  it('sends a write that did not come through the service', async () => {
    const client = await connect()
    await client.next()
    await db.execute("INSERT INTO dishes(name, votes) VALUES ('Couscous', 3)")
    assert.equal((await client.next()).added[0].row.name, 'Couscous')
  })

  it('asks the database once for all who watch, and not at all when nobody does', async () => {
    const clients = await Promise.all([connect(), connect(), connect()])
    await Promise.all(clients.map((client) => client.next()))
    assert.equal((await db.diagnostics()).streams.open, 1)
    for (const client of clients) client.leave()
    while ((await db.diagnostics()).streams.open > 0) await turn()
  })

  it('refuses a dish without a name, and one that is there', async () => {
    assert.equal((await post('/dishes', { name: ' ' })).status, 400)
    assert.equal((await post('/dishes', { name: 'Pizza' })).status, 409)
  })

  it('says 404 for a dish that is not there, and for an unknown address', async () => {
    assert.equal((await post('/dishes/99/votes')).status, 404)
    assert.equal((await fetch(`${origin}/dishes/99`, { method: 'DELETE' })).status, 404)
    assert.equal((await fetch(`${origin}/desserts`)).status, 404)
    assert.equal((await fetch(`${origin}/client/nothing.mjs`)).status, 404)
    assert.equal((await fetch(`${origin}/client/..%2fpackage.json`)).status, 404)
  })

  // G174
  it('is the same in a browser, also after its server was killed and has started again', {
    skip,
  }, async (t) => {
    const { page, shows, complaints } = await openPage(t, origin)
    const names = async () => (await db.select(ranking)).map(({ name }) => name)
    await shows('li span', await names())
    await page.click('li:last-child button')
    while ((await db.selectOne(ranking)).votes === 0);
    await page.fill('input', '<b>Dosa</b>')
    await page.click('form button')
    while ((await names()).length < 8);
    await shows('li span', await names())
    const { port } = server.address()
    server.close()
    server.closeAllConnections()
    await shows('#state', ['connection lost, trying again …'])
    await page.fill('input', 'Ramen')
    await page.click('form button')
    await shows('[role=alert]', ['The server cannot be reached. Nothing was saved.'])
    assert.equal(await page.inputValue('input'), 'Ramen')
    await db.execute("DELETE FROM dishes WHERE name = 'Pizza'")
    server = createApp(db).listen(port, '127.0.0.1')
    await shows('li span', await names())
    assert.deepEqual(complaints, [])
  })

  const post = (path, body) => fetch(origin + path, { method: 'POST', body: JSON.stringify(body) })

  /** A client of /events: `next` resolves to the data of the next event. */
  async function connect() {
    const gone = new AbortController()
    const response = await fetch(`${origin}/events`, { signal: gone.signal })
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    const events = dataOf(response.body)
    return { next: async () => (await events.next()).value, leave: () => gone.abort() }
  }
})

/** Folds in the patches that come until the rows are those that are expected. */
async function foldUntil(expected, before, client) {
  let rows = before
  while (JSON.stringify(rows) !== JSON.stringify(expected)) rows = fold(rows, await client.next())
  return rows
}

async function* dataOf(body) {
  let text = ''
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const events = (text + piece).split('\n\n')
    text = events.pop()
    for (const event of events) {
      const [, data] = /^data: (.*)/m.exec(event) ?? []
      if (data !== undefined) yield JSON.parse(data)
    }
  }
}

function rowsOf(placed) {
  return placed.map(({ row }) => row)
}
