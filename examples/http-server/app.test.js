import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { Database } from 'resqlite'
import { createApp } from './app.js'
import { fill } from './fill.js'

const switzerland = [
  [1, 'Zürich', 'CH', 'PPLA', 341730, 47.36667, 8.55],
  [2, 'Genève', 'CH', 'PPLA', 183981, 46.20222, 6.14569],
  [3, 'Basel', 'CH', 'PPLA', 164488, 47.55839, 7.57327],
]
const villages = Array.from({ length: 5000 }, (_, i) => [i + 10, `Village ${i}`, 'FR', 'PPL', i, 45, 2])

describe('the web service', () => {
  let db
  let server
  let origin

  before(async () => {
    db = await Database.open(':memory:')
    await fill(db, () => [...switzerland, ...villages])
    server = createApp(db).listen(0, '127.0.0.1')
    await once(server, 'listening')
    origin = `http://127.0.0.1:${server.address().port}`
  })

  after(async () => {
    server.close()
    server.closeAllConnections()
    await db.close()
  })

  it('answers a list as JSON, in order and up to the limit', async () => {
    const response = await fetch(`${origin}/cities?country=CH&limit=2`)
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'application/json')
    const cities = await response.json()
    assert.deepEqual(
      cities.map(({ name }) => name),
      ['Zürich', 'Genève'],
    )
    assert.deepEqual(Object.values(cities[0]), switzerland[0])
  })

  it('answers a country without cities with an empty list', async () => {
    assert.deepEqual(await (await fetch(`${origin}/cities?country=XX`)).json(), [])
  })

  it('streams every city as one line of JSON', async () => {
    const response = await fetch(`${origin}/cities.ndjson?country=FR`)
    const received = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    assert.deepEqual(
      received.sort((a, b) => a - b),
      villages.map(([id]) => id),
    )
  })

  it('goes on when a client leaves in the middle of a stream', async () => {
    const gone = new AbortController()
    const response = await fetch(`${origin}/cities.ndjson?country=FR`, { signal: gone.signal })
    await response.body.getReader().read()
    gone.abort()
    assert.equal((await fetch(`${origin}/cities/1`)).status, 200)
  })

  it('finds one city', async () => {
    const city = await (await fetch(`${origin}/cities/3`)).json()
    assert.equal(city.name, 'Basel')
  })

  it('says 404 for a city that is not there, and for an unknown address', async () => {
    assert.equal((await fetch(`${origin}/cities/4`)).status, 404)
    assert.equal((await fetch(`${origin}/countries`)).status, 404)
  })

  it('adds a city that can be read at once', async () => {
    const added = await post({
      id: 5,
      name: 'Bern',
      country: 'CH',
      kind: 'PPLC',
      population: 121631,
      latitude: 46.9,
      longitude: 7.4,
    })
    assert.equal(added.status, 201)
    assert.equal((await (await fetch(`${origin}/cities/5`)).json()).name, 'Bern')
  })

  it('refuses a city that is there already', async () => {
    const twice = await post({
      id: 1,
      name: 'Zürich',
      country: 'CH',
      kind: 'PPLA',
      population: 1,
      latitude: 0,
      longitude: 0,
    })
    assert.equal(twice.status, 409)
  })

  it('names what a new city lacks', async () => {
    const response = await post({ id: 6, name: 'Chur' })
    assert.equal(response.status, 400)
    assert.match((await response.json()).error, /country, kind, population, latitude, longitude/)
  })

  it('refuses a limit that is not a positive number', async () => {
    assert.equal((await fetch(`${origin}/cities?country=CH&limit=-1`)).status, 400)
  })

  const post = (city) => fetch(`${origin}/cities`, { method: 'POST', body: JSON.stringify(city) })
})
