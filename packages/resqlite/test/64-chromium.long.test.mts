import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { type Browser, chromium } from 'playwright-core'
import { createElement as h, Suspense } from 'react'
import { renderToPipeableStream, renderToString } from 'react-dom/server'
import { Database, type LiveQuery } from 'resqlite'
import { type RemoteEvent, remoteQuery } from 'resqlite/client'
import { useLiveQuery, useLiveQuerySuspense } from 'resqlite/react'
import { sendSSE, sseEvents } from 'resqlite/sse'
import { tempFile } from './support/temp.js'

interface Task {
  id: number
  title: string
}

const executablePath = '/usr/bin/chromium'
const options = { skip: existsSync(executablePath) ? false : 'Chromium is not installed' }

/** What the page runs. The server draws the same component. */
const PROGRAM = `
  import { StrictMode, Suspense, useEffect } from 'react'
  import { createRoot, hydrateRoot } from 'react-dom/client'
  import { remoteQuery } from 'resqlite/client'
  import { useLiveQuery, useLiveQuerySuspense } from 'resqlite/react'

  const written = document.getElementById('written')
  const root = document.getElementById('root')
  const initial = written ? JSON.parse(written.textContent) : undefined
  const tasks = remoteQuery('/tasks', { initial, minDelay: 20, maxDelay: 100 })

  const list = (data) => <ul>{data?.map(({ id, title }) => <li key={id}>{title}</li>)}</ul>
  const Tasks = () => list(useLiveQuery(tasks).data)
  function Waiting() {
    const { data } = useLiveQuerySuspense(tasks)
    useEffect(() => { root.dataset.hydrated = 'yes' }, [])
    return list(data)
  }

  function State() {
    const { state } = useLiveQuery(tasks)
    return <output>{state}</output>
  }

  const onRecoverableError = (error) => console.error(error)
  if (root.dataset.streamed) {
    const page = <StrictMode><Suspense fallback="waiting"><Waiting /></Suspense></StrictMode>
    hydrateRoot(root, page, { onRecoverableError })
  } else if (initial) hydrateRoot(root, <StrictMode><Tasks /></StrictMode>, { onRecoverableError })
  else createRoot(root).render(<StrictMode><Tasks /><State /></StrictMode>)
`

/** The same, on the server. */
const list = (data: readonly Task[] | undefined) =>
  h(
    'ul',
    null,
    data?.map(({ id, title }) => h('li', { key: id }, title)),
  )
const Tasks = ({ initial }: { initial: RemoteEvent }) =>
  list(useLiveQuery(remoteQuery<Task>('/tasks', { initial })).data)
const Waiting = ({ live }: { live: LiveQuery<Task[]> }) => list(useLiveQuerySuspense(live).data)

const SQL = 'SELECT id, title FROM tasks ORDER BY id'

let browser: Browser
let script: string

before(async () => {
  if (options.skip) return
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const { outputFiles } = await build({
    stdin: { contents: PROGRAM, loader: 'jsx', resolveDir: fileURLToPath(new URL('../..', import.meta.url)) },
    bundle: true,
    write: false,
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"development"' },
  })
  script = outputFiles[0]?.text ?? ''
})

after(() => browser?.close())

/** A server with a database of its own connection, which can be killed. */
async function start(t: TestContext, file: string, port = 0) {
  const db = await Database.open(file)
  const answers: Record<string, (request: IncomingMessage, response: ServerResponse) => unknown> = {
    '/tasks': (_, response) => sendSSE(db.stream<Task>(SQL), response, { key: 'id' }),
    '/page.js': (_, response) => response.setHeader('content-type', 'text/javascript').end(script),
    '/': (_, response) => response.end(pageWith('')),
    '/drawn': async (_, response) => {
      const initial = await firstEvent(db.stream<Task>(SQL))
      const json = JSON.stringify(initial).replaceAll('<', '\\u003c')
      const data = `<script id="written" type="application/json">${json}</script>`
      response.end(pageWith(renderToString(h(Tasks, { initial })), data))
    },
    '/streamed': async (_, response) => {
      const body = new PassThrough()
      const page = h(Suspense, { fallback: 'waiting' }, h(Waiting, { live: db.stream<Task>(SQL) }))
      const { pipe } = renderToPipeableStream(page, { onAllReady: () => pipe(body) })
      response.end(pageWith(await text(body), '').replace('id="root"', 'id="root" data-streamed="yes"'))
    },
  }
  const server = createServer((request, response) => answers[request.url ?? '']?.(request, response))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const kill = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await db.close()
  }
  t.after(kill)
  return { db, kill, port: (server.address() as AddressInfo).port }
}

async function firstEvent(live: LiveQuery<Task[]>): Promise<RemoteEvent> {
  for await (const event of sseEvents(live, { key: 'id' })) return event
  throw new Error('there is no event')
}

const pageWith = (html: string, data = '') =>
  `<!doctype html><link rel="icon" href="data:,"><div id="root">${html}</div>${data}<script src="/page.js"></script>`

async function open(t: TestContext, url: string) {
  const page = await browser.newPage()
  t.after(() => page.close())
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(url)
  const shows = (selector: string, text: string) =>
    page.waitForFunction(
      `document.querySelector(${JSON.stringify(selector)})?.textContent === ${JSON.stringify(text)}`,
    )
  return { page, complaints, shows }
}

// G174
test(
  'a React page converges without a reload when its server is killed and starts again',
  options,
  async (t) => {
    const file = tempFile(t)
    const first = await start(t, file)
    await first.db.exec(
      "CREATE TABLE tasks(id INTEGER PRIMARY KEY, title); INSERT INTO tasks VALUES (1, 'Rake'), (2, 'Mow')",
    )
    const { page, shows } = await open(t, `http://127.0.0.1:${first.port}/`)
    await shows('ul', 'RakeMow')
    await shows('output', 'live')
    await first.db.execute("UPDATE tasks SET title = 'Sow' WHERE id = 2")
    await shows('ul', 'RakeSow')
    await page.evaluate("document.querySelector('li').dataset.kept = 'yes'")
    await first.kill()
    await shows('output', 'stale')
    assert.equal(await page.textContent('ul'), 'RakeSow')
    const second = await start(t, file, first.port)
    await second.db.execute("INSERT INTO tasks VALUES (3, 'Dig')")
    await shows('ul', 'RakeSowDig')
    await shows('output', 'live')
    assert.equal(await page.getAttribute('li', 'data-kept'), 'yes')
  },
)

// G173
test('a React page goes on from what the server has drawn, without a complaint', options, async (t) => {
  const { db, port } = await start(t, tempFile(t))
  const title = '</script><b>Rake & sow'
  await db.exec('CREATE TABLE tasks(id INTEGER PRIMARY KEY, title)')
  await db.execute('INSERT INTO tasks VALUES (1, ?)', [title])
  const { page, complaints, shows } = await open(t, `http://127.0.0.1:${port}/drawn`)
  assert.equal(await page.textContent('ul'), title)
  await db.execute("INSERT INTO tasks VALUES (2, 'Mow')")
  await shows('ul', `${title}Mow`)
  assert.deepEqual(complaints, [])
})

// G173
test(
  'a React page that was streamed with Suspense goes on in StrictMode, without a complaint',
  options,
  async (t) => {
    const { db, port } = await start(t, tempFile(t))
    await db.exec("CREATE TABLE tasks(id INTEGER PRIMARY KEY, title); INSERT INTO tasks VALUES (1, 'Rake')")
    const html = await (await fetch(`http://127.0.0.1:${port}/streamed`)).text()
    assert.match(html, /<ul><li>Rake<\/li><\/ul>/)
    const { page, complaints, shows } = await open(t, `http://127.0.0.1:${port}/streamed`)
    // A row that is written before would be one that the server has not drawn.
    await page.waitForSelector('[data-hydrated]', { state: 'attached' })
    await db.execute("INSERT INTO tasks VALUES (2, 'Mow')")
    await shows('ul', 'RakeMow')
    assert.deepEqual(complaints, [])
  },
)

// G174
test('a React page shows what a server has that starts again with another database', options, async (t) => {
  const first = await start(t, tempFile(t))
  await first.db.exec(
    "CREATE TABLE tasks(id INTEGER PRIMARY KEY, title); INSERT INTO tasks VALUES (1, 'Rake')",
  )
  const { shows } = await open(t, `http://127.0.0.1:${first.port}/`)
  await shows('ul', 'Rake')
  await first.kill()
  await shows('output', 'stale')
  const second = await start(t, tempFile(t), first.port)
  await second.db.exec(
    "CREATE TABLE tasks(id INTEGER PRIMARY KEY, title); INSERT INTO tasks VALUES (1, 'Paint')",
  )
  await shows('ul', 'Paint')
})
