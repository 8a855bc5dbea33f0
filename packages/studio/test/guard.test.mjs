import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { createStudio, openStudio } from '../dist/server/index.js'
import { serve, tempDatabase } from './support/studio.mjs'

const SCHEMA = "CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes VALUES (1, 'one')"
const ROUTES = ['catalog', 'count', 'seek', 'value', 'query', 'describe', 'explain', 'edits']

// G368
test('every answer forbids what the page does not need', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  for (const path of ['/', '/app.js', '/nothing', '/api/query']) {
    const { headers } = await client.send('GET', path, { token: '' })
    assert.match(
      headers['content-security-policy'],
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    assert.doesNotMatch(headers['content-security-policy'], /unsafe|\*|http/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['access-control-allow-origin'], undefined)
  }
})

// G368
test('without the token, nothing of the database is told', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA), { write: true })
  const wrong = ['', 'x', `${client.token}x`, client.token.slice(1), client.token.toUpperCase()]
  for (const token of wrong) {
    for (const route of ROUTES) assert.equal((await client.ask(route, {}, { token })).status, 401, route)
    for (const path of ['/live/rows', '/live/facts?kind=status']) {
      assert.equal((await client.send('GET', path, { token })).status, 401, path)
    }
  }
})

// G379
test('each studio has a token of its own, and one without a token must say so', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  assert.notEqual(createStudio(db).token, createStudio(db).token)
  assert.ok(createStudio(db).token.length >= 32)
  for (const token of ['', 'too short', 'x'.repeat(15), 'a secret with spaces', 7]) {
    assert.throws(() => createStudio(db, { token }), /'token' must have at least 16 letters, digits, - or _/)
  }
  assert.equal(createStudio(db, { token: 'a-token_of-one-s-own' }).token, 'a-token_of-one-s-own')
  const open = await serve(t, db, { token: false })
  assert.equal((await open.ask('catalog', {}, { token: '' })).status, 200)
})

for (const host of [
  'evil.example',
  'evil.example:80',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  '10.0.0.1',
]) {
  // G368
  test(`a request under the host name ${JSON.stringify(host)} is refused: DNS rebinding`, async (t) => {
    const client = await serve(t, await tempDatabase(t, SCHEMA))
    for (const path of ['/', '/app.js']) {
      assert.equal((await client.send('GET', path, { headers: { host } })).status, 421)
    }
    assert.equal((await client.ask('query', { sql: 'SELECT 1' }, { headers: { host } })).status, 421)
  })
}

test('names of this machine are answered, and those that the option names', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const client = await serve(t, db)
  for (const host of ['localhost:1', '127.0.0.1', '[::1]:80', 'LOCALHOST']) {
    assert.equal((await client.ask('catalog', {}, { headers: { host } })).status, 200, host)
  }
  const named = await serve(t, db, { hosts: ['db.example'] })
  assert.equal((await named.ask('catalog', {}, { headers: { host: 'db.example' } })).status, 200)
  assert.equal((await named.ask('catalog', {}, { headers: { host: 'localhost' } })).status, 421)
})

// G368
test('a page of another origin is refused, even with the token', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const own = `127.0.0.1:${client.port}`
  const strangers = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: `http://${own}.evil.example` },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of strangers) {
    assert.equal(
      (await client.ask('query', { sql: 'SELECT 1' }, { headers })).status,
      403,
      JSON.stringify(headers),
    )
  }
  const headers = { origin: `http://${own}`, 'sec-fetch-site': 'same-origin' }
  assert.equal((await client.ask('query', { sql: 'SELECT 1' }, { headers })).status, 200)
})

// G368
test('a body that a form of another page could send is refused', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const { status } = await client.ask('query', { sql: 'SELECT 1' }, { headers: { 'content-type': type } })
    assert.equal(status, 415, type)
  }
})

// G368
test('no path leads to another file', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA), { path: '/studio' })
  const paths = [
    '/../package.json',
    '/../server/index.js',
    '/%2e%2e/package.json',
    '/..%2fserver%2findex.js',
    '/..\\package.json',
    '//etc/passwd',
    '/app.js/../../package.json',
    '/app.js%00.html',
    '/__proto__',
    '/api/constructor',
    '/live/__proto__',
  ]
  for (const path of paths) {
    const { status, text } = await client.send('GET', `/studio${path}`)
    assert.ok([400, 404].includes(status), `${path}: ${status}`)
    assert.doesNotMatch(text, /"name"|import |root:/)
  }
  for (const path of paths)
    assert.equal((await client.send('POST', `/studio${path}`)).status >= 400, true, path)
})

test('a mounted studio answers below its path only, and leads to its folder', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA), { path: '/tools/studio' })
  for (const path of ['/', '/tools', '/tools/studios', '/tools/studio2/', '/app.js']) {
    assert.equal((await client.send('GET', path)).status, 418, path)
  }
  assert.equal((await client.send('GET', '/tools/studio/')).status, 200)
  const { status, headers } = await client.send('GET', '/tools/studio?a=//b')
  assert.deepEqual([status, headers.location], [308, './studio/'])
  assert.throws(() => createStudio({}, { path: 'studio' }), /must begin with a slash/)
  assert.throws(() => createStudio({}, { path: '/studio/' }), /end without one/)
})

// G379
test('wrong arguments are refused by name', async () => {
  assert.throws(
    () => createStudio('app.db'),
    /the first argument must be a Database; openStudio takes a file/,
  )
  assert.throws(() => createStudio({}, { hosts: 'example.org' }), /'hosts' must be an array of host names/)
  assert.throws(
    () => createStudio({}, { readOnly: true }),
    /there is no option 'readOnly'; there are write, token/,
  )
  assert.throws(() => createStudio({}, { write: 'no' }), /'write' must be true or false/)
  await assert.rejects(openStudio({ file: 'app.db', writable: true }), /there is no option 'writable'/)
  await assert.rejects(openStudio({ file: 'app.db', write: 1 }), /'write' must be true or false/)
  for (const port of ['x', -1, 65_536, 1.5, Number.NaN, null]) {
    await assert.rejects(
      openStudio({ file: 'app.db', port }),
      /'port' must be a whole number from 0 to 65535/,
      String(port),
    )
  }
  await assert.rejects(openStudio('app.db'), /'file' must be the path of a database/)
})

test('requests that are not understood get an error, and the studio goes on', async (t) => {
  const client = await serve(t, await tempDatabase(t, SCHEMA))
  const type = { 'content-type': 'application/json' }
  for (const body of ['', '[]', 'null', '{', '"text"', '{"sql":1}', '{"sql":null}']) {
    assert.equal((await client.send('POST', '/api/query', { headers: type, body })).status, 400, body)
  }
  for (const window of ['', '{', '[]']) {
    assert.equal(
      (await client.send('GET', `/live/rows?window=${encodeURIComponent(window)}`)).status,
      400,
      window,
    )
  }
  const large = `{"sql":"${'x'.repeat(5_000_000)}"}`
  assert.equal((await client.send('POST', '/api/query', { headers: type, body: large })).status, 413)
  const chunked = { ...type, 'transfer-encoding': 'chunked' }
  assert.equal((await client.send('POST', '/api/query', { headers: chunked, body: '{}' })).status, 411)
  assert.equal((await client.ask('catalog')).status, 200)
})

test('openStudio listens on this machine only, read-only, and ends with its live queries', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { url, close } = await openStudio({ file: db.path })
  const { hostname, origin, hash } = new URL(url)
  assert.equal(hostname, '127.0.0.1')
  const headers = { authorization: `Bearer ${hash.slice(1)}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ sql: 'DELETE FROM notes' })
  assert.equal((await fetch(`${origin}/api/query`, { method: 'POST', headers, body })).status, 403)
  const facts = await fetch(`${origin}/live/facts?kind=status`, { headers })
  await close()
  assert.match(await facts.text(), /event: closed/)
  await assert.rejects(fetch(origin))
  await assert.rejects(openStudio({ file: `${db.path}.missing` }), { code: 'RESQLITE_OPEN' })
})

// G13
test('openStudio reads an immutable file whose log cannot be made, and does not write to it', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const file = `${db.path}.still`
  await db.backup(file)
  mkdirSync(`${file}-wal`)
  await assert.rejects(openStudio({ file }), { code: 'SQLITE_CANTOPEN' })
  await assert.rejects(openStudio({ file, write: true, immutable: true }), /immutable.*read-only/)
  const { url, close } = await openStudio({ file, immutable: true })
  t.after(close)
  const { origin, hash } = new URL(url)
  const headers = { authorization: `Bearer ${hash.slice(1)}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ sql: 'SELECT text FROM notes' })
  const answer = await fetch(`${origin}/api/query`, { method: 'POST', headers, body })
  assert.match(await answer.text(), /one/)
  const window = encodeURIComponent(JSON.stringify({ schema: 'main', table: 'notes', from: null }))
  const events = (await fetch(`${origin}/live/rows?window=${window}`, { headers })).body
  let text = ''
  for await (const chunk of events) {
    text += Buffer.from(chunk).toString()
    if (text.includes('"c1":"tone"')) break
  }
})

test('openStudio ends although a connection asks nothing, and answers what is no path', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const { url, close } = await openStudio({ file: db.path })
  const silent = connect(Number(new URL(url).port), '127.0.0.1')
  await once(silent, 'connect')
  const asking = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('latin1')
  asking.write('OPTIONS * HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')
  assert.match((await once(asking, 'data'))[0], /^HTTP\/1\.1 404 /)
  await close()
  await Promise.all([silent, asking].map(async (socket) => socket.closed || (await once(socket, 'close'))))
})
