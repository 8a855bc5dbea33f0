import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Database } from 'resqlite'
import { openTourStudio } from './studio.js'

test('the studio of the tour is served while its writers write', async (t) => {
  const db = await Database.open(':memory:')
  t.after(() => db.close())
  await db.exec(`
    CREATE TABLE cities(id INTEGER PRIMARY KEY, population INTEGER, latitude REAL);
    CREATE TABLE visits(city INTEGER, at INTEGER);
    INSERT INTO cities VALUES (1, 0, 0);
  `)
  const { url, close } = await openTourStudio(db, [[1]])
  const { origin, hash } = new URL(url)
  assert.match(await (await fetch(origin)).text(), /<title>resqlite studio/)
  const headers = { authorization: `Bearer ${hash.slice(1)}`, 'content-type': 'application/json' }
  const answer = await fetch(`${origin}/api/catalog`, { method: 'POST', headers, body: '{}' })
  assert.deepEqual(
    (await answer.json()).map(({ name }) => name),
    ['cities', 'visits'],
  )
  const before = (await db.diagnostics()).lastCommit
  for await (const { to } of db.commits()) if (to > before) break
  await close()
  await assert.rejects(fetch(origin))
})
