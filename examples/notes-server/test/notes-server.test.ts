import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Database } from 'resqlite'
import { createApp } from '../src/app.js'
import { listen, shutDown } from '../src/server.js'
import { logSlowQueries } from '../src/slow-queries.js'
import { openStore } from '../src/store.js'
import { eventsOf, type Listed, ndjson } from './client.js'

const garden = { title: 'Garden', body: 'Water the roses in the evening', tags: ['home', 'summer'] }
const soup = { title: 'Soup', body: 'Onions, carrots and a bay leaf', tags: ['home', 'kitchen'] }
const engine = { title: 'Engine', body: 'Readers never wait for the writer', tags: ['work'] }

describe('the notes server', () => {
  let folder: string
  let db: Database
  let server: Server
  let origin: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'notes-'))
    db = await openStore(join(folder, 'notes.db'))
    server = await listen(createApp(db, folder), 0)
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  afterEach(async () => {
    if (db.open) await shutDown(server, db, 1000)
    await rm(folder, { recursive: true })
  })

  const ask = async (path: string) => (await (await fetch(origin + path)).json()) as Listed[]
  const post = (path: string, body: string) => fetch(origin + path, { method: 'POST', body })
  const add = (note: object) => post('/notes', JSON.stringify(note))
  const load = () => post('/notes/import', ndjson([garden, soup, engine]))
  const titles = (notes: { title: string }[] = []) => notes.map(({ title }) => title)

  it('imports a stream of notes, and lists them by tag', async () => {
    const many = Array.from({ length: 5000 }, (_, i) => ({ title: `Note ${i}`, tags: [`tag ${i % 100}`] }))
    assert.deepEqual(await (await post('/notes/import', ndjson(many))).json(), { imported: 5000 })
    const listed = await ask(`/notes?tag=${encodeURIComponent('tag 7')}`)
    assert.equal(titles(listed).length, 50)
    assert.deepEqual(listed[0], { id: 4908, title: 'Note 4907', tags: '["tag 7"]' })
  })

  it('imports nothing when a line is wrong, and names the line', async () => {
    const refused = await post('/notes/import', ndjson([garden, { title: 7 }, soup]))
    assert.equal(refused.status, 400)
    assert.deepEqual(await refused.json(), { error: 'line 2: title and body are texts' })
    assert.deepEqual(await ask('/notes'), [])
  })

  it('finds notes that have all words', async () => {
    await load()
    const found = await ask('/search?q=water+roses')
    assert.deepEqual(found, [{ id: 1, title: 'Garden', extract: '[Water] the [roses] in the evening' }])
    for (const q of ['roses+onions', 'NOT+(', '"', '']) assert.deepEqual(await ask(`/search?q=${q}`), [])
  })

  it('finds the notes nearest to a text first', async () => {
    await load()
    assert.equal(titles(await ask('/similar?to=onion+and+carrot'))[0], 'Soup')
    assert.equal(titles(await ask('/similar?to=a+reader+that+waits'))[0], 'Engine')
  })

  it('sends the list, and then what changes, until the client leaves', async () => {
    await load()
    const gone = new AbortController()
    const events = eventsOf(await fetch(`${origin}/live`, { signal: gone.signal }))
    const first = (await events.next()).value
    assert.deepEqual(
      first?.added.map(({ row }) => row.title),
      ['Engine', 'Soup', 'Garden'],
    )
    await add({ title: 'New' })
    const second = (await events.next()).value
    assert.deepEqual(second?.added, [{ index: 0, row: { id: 4, title: 'New', tags: '[]' } }])
    gone.abort()
    while ((await db.diagnostics()).streams.open > 0) await turn()
  })

  it('makes a backup, and a download, of the same notes', async () => {
    await load()
    assert.equal((await post('/backup', '')).status, 200)
    const bytes = new Uint8Array(await (await fetch(`${origin}/export`)).arrayBuffer())
    for (const source of [join(folder, 'notes.backup.db'), bytes]) {
      const copy = await Database.open(source)
      assert.deepEqual(titles(await copy.select('SELECT title FROM notes')), ['Garden', 'Soup', 'Engine'])
      await copy.close()
    }
  })

  it('logs slow queries', async () => {
    const logged: string[] = []
    const stop = logSlowQueries((line) => logged.push(line), 0)
    await ask('/notes?tag=home')
    stop()
    await ask('/notes')
    assert.match(
      logged.join('\n'),
      /^selectBytes took [\d.]+ ms: SELECT id, title, notes\.tags FROM tags .*$/,
    )
  })

  it('keeps all notes that it acknowledged when it shuts down under load', async () => {
    const acknowledged: number[] = []
    const client = async () => {
      for (;;) {
        const response = await add(garden).catch(() => undefined) // undefined once nobody listens
        if (response?.status !== 201) return
        acknowledged.push(((await response.json()) as Listed).id)
      }
    }
    const events = eventsOf(await fetch(`${origin}/live`))
    const clients = Array.from({ length: 8 }, client)
    while (acknowledged.length < 100) await turn()
    await Promise.all([shutDown(server, db, 1000), ...clients])

    db = await openStore(join(folder, 'notes.db'))
    const kept = new Set((await db.select<Listed>('SELECT id FROM notes')).map(({ id }) => id))
    assert.ok(acknowledged.every((id) => kept.has(id)))
    for await (const { initial } of events) assert.equal(typeof initial, 'boolean') // and it ends
    await db.close()
  })

  it('undoes an import whose client does not finish in time when it shuts down', async () => {
    const begun = new Promise((resolve) => subscribe('tracing:resqlite:query:start', resolve))
    const upload = new TransformStream<Uint8Array, Uint8Array>()
    const request = { method: 'POST', body: upload.readable, duplex: 'half' } as const
    const answer = fetch(`${origin}/notes/import`, request)
    await upload.writable.getWriter().write(Buffer.from(ndjson(Array.from({ length: 3000 }, () => soup))))
    await begun
    const [outcome] = await Promise.allSettled([answer, shutDown(server, db, 100)])
    assert.ok(outcome.status === 'rejected' || outcome.value.status === 503)
    db = await openStore(join(folder, 'notes.db'))
    assert.deepEqual(await db.select('SELECT id FROM notes'), [])
    await db.close()
  })
})
