import './support/dom.mjs'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { act, cleanup, configure, render, screen, waitFor } from '@testing-library/react'
import {
  Component,
  createElement as h,
  memo,
  type ReactNode,
  StrictMode,
  Suspense,
  startTransition,
  useLayoutEffect,
  useState,
} from 'react'
import { hydrateRoot } from 'react-dom/client'
import { renderToPipeableStream, renderToString } from 'react-dom/server'
import { type RemoteEvent, remoteQuery } from 'resqlite/client'
import { type LiveSource, useLiveQuery, useLiveQuerySuspense } from 'resqlite/react'
import { sendSSE, sseEvents } from 'resqlite/sse'
import { pageElement } from './support/page-element.mjs'
import { random } from './support/random.js'
import { ScriptedSource } from './support/scripted-source.mjs'
import { serve } from './support/sse.js'
import { noStreams, servedTasks, type Task, taskDatabase, tasksOf, turn } from './support/tasks.mjs'

configure({ asyncUtilTimeout: 30_000 })

async function fixture(t: TestContext) {
  t.after(cleanup) // before the database is closed
  const db = await taskDatabase(t)
  return { db, tasks: (list: number) => tasksOf(db, list) }
}

/** Shows the titles, or else the state or the error. */
function Titles({ source }: { source: LiveSource<readonly Task[]> }) {
  const { data, state, error } = useLiveQuery(source)
  return h('p', null, data?.map(({ title }) => title).join() ?? error?.message ?? state)
}

function WaitingTitles({ source }: { source: LiveSource<readonly Task[]> }) {
  const { data } = useLiveQuerySuspense(source)
  return h('p', null, data.map(({ title }) => title).join())
}

class Boundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {}
  static getDerivedStateFromError = (error: Error) => ({ error })
  override render() {
    return this.state.error === undefined ? this.props.children : h('b', null, this.state.error.message)
  }
}

const rake = { id: 1, title: 'Rake' }
const mow = { id: 2, title: 'Mow' }

// G167
test('a component shows the result, and each new one', async (t) => {
  const { db, tasks } = await fixture(t)
  render(h(Titles, { source: tasks(7) }))
  assert.ok(screen.getByText('connecting'))
  await screen.findByText('Rake,Mow')
  await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
  await screen.findByText('Rake,Mow,Dig')
})

// G167
test('the same component shows a remote query', async (t) => {
  const { db } = await fixture(t)
  render(h(Titles, { source: remoteQuery<Task>(await servedTasks(t, db)) }))
  await screen.findByText('Rake,Mow')
  await db.execute("UPDATE tasks SET title = 'Plough' WHERE id = 2")
  await screen.findByText('Rake,Plough')
})

// G168
test('the query may be written where it is used: components share what is equal', async (t) => {
  const { db } = await fixture(t)
  const seen: (readonly Task[] | undefined)[][] = [[], []]
  function Inline({ index }: { index: number }) {
    seen[index]?.push(useLiveQuery(tasksOf(db, 7)).data)
    return null
  }
  render(h(StrictMode, null, h(Inline, { index: 0 }), h(Inline, { index: 1 })))
  await waitFor(() => assert.ok(seen[1]?.at(-1)))
  assert.equal(seen[0]?.at(-1), seen[1]?.at(-1))
  const { open, emitted } = (await db.diagnostics()).streams
  assert.deepEqual([open, emitted], [1, 1])
})

// G170
test('StrictMode subscribes once', async (t) => {
  t.after(cleanup)
  const source = new ScriptedSource<Task[]>()
  const { unmount } = render(h(StrictMode, null, h(Titles, { source })))
  await act(turn)
  act(() => source.next([rake]))
  assert.ok(screen.getByText('Rake'))
  assert.deepEqual([source.subscribed, source.open], [1, 1])
  unmount()
  await turn()
  assert.equal(source.open, 0)
})

// G170
test('a component that is unmounted frees its live query', async (t) => {
  const { db, tasks } = await fixture(t)
  const { unmount } = render(h(Titles, { source: tasks(7) }))
  await screen.findByText('Rake,Mow')
  unmount()
  await noStreams(db)
})

// G167
test('other parameters are another query', async (t) => {
  const { db } = await fixture(t)
  const shown: string[] = []
  function Titles({ list }: { list: number }) {
    const { data, state } = useLiveQuery(tasksOf(db, list))
    const text = data?.map(({ title }) => title).join() ?? state
    shown.push(`${list}: ${text}`)
    return h('p', null, text)
  }
  const { rerender } = render(h(Titles, { list: 7 }))
  await screen.findByText('Rake,Mow')
  rerender(h(Titles, { list: 8 }))
  await screen.findByText('Paint')
  assert.deepEqual([...new Set(shown)], ['7: connecting', '7: Rake,Mow', '8: connecting', '8: Paint'])
  assert.equal((await db.diagnostics()).streams.open, 1)
})

// G171
test('memo draws only the rows that have changed', async (t) => {
  const { db, tasks } = await fixture(t)
  const drawn: string[] = []
  const Item = memo(({ task }: { task: Task }) => {
    drawn.push(task.title)
    return h('li', null, task.title)
  })
  function List({ source }: { source: LiveSource<Task[]> }) {
    const { data } = useLiveQuery(source)
    return data?.map((task) => h(Item, { key: task.id, task }))
  }
  render(h(List, { source: tasks(7) }))
  await screen.findByText('Mow')
  drawn.length = 0
  await db.execute("UPDATE tasks SET title = 'Sow' WHERE id = 2")
  await screen.findByText('Sow')
  assert.deepEqual(drawn, ['Sow'])
})

// G167
test('an error is shown beside the last value, until the query works again', async (t) => {
  t.after(cleanup)
  const source = new ScriptedSource<Task[]>()
  function State() {
    const { data, state, error } = useLiveQuery(source)
    return h('p', null, `${data?.length} ${state} ${error?.message}`)
  }
  render(h(State))
  await act(turn)
  act(() => source.next([rake]))
  act(() => source.fail(new Error('down')))
  assert.ok(screen.getByText('1 error down'))
  act(() => source.next([rake, mow]))
  assert.ok(screen.getByText('2 live undefined'))
  act(() => source.lose())
  assert.ok(screen.getByText('2 stale undefined'))
})

// G169
test('whatever is written, components that are drawn together show the same value', async (t) => {
  const { seed, int } = random()
  t.diagnostic(`seed ${seed}`)
  const { db } = await fixture(t)
  const sql = 'SELECT id, title FROM tasks ORDER BY id'
  const texts = Array.from({ length: 8 }, () => '')
  let torn = 0
  let round = 0
  function Part({ index }: { index: number }) {
    texts[index] = JSON.stringify(useLiveQuery(db.stream(sql)).data)
    return null
  }
  let draw = () => {}
  function All() {
    const [count, set] = useState(0)
    draw = () => startTransition(() => set((count) => count + 1))
    useLayoutEffect(() => {
      if (new Set(texts).size > 1) torn++
    })
    return texts.map((_, index) => h(Part, { key: `${index} ${count % 3}`, index }))
  }
  render(h(All))
  while (round++ < 30) {
    await act(async () => {
      for (let i = int(4); i >= 0; i--)
        await db.execute('UPDATE tasks SET title = ? WHERE id = ?', [`${round} ${i}`, 1 + int(3)])
      draw()
    })
  }
  const expected = JSON.stringify(await db.select(sql))
  await waitFor(() => assert.ok(texts.every((text) => text === expected)))
  assert.equal(torn, 0, `seed ${seed}`)
})

// G172
test('with Suspense, a component waits for the first value, in StrictMode, too', async (t) => {
  const { db } = await fixture(t)
  const Inline = () => h(WaitingTitles, { source: tasksOf(db, 7) })
  const page = h(Suspense, { fallback: 'waiting' }, h(Inline), h(Inline))
  await act(async () => void render(h(StrictMode, null, page)))
  await waitFor(() => assert.equal(screen.getAllByText('Rake,Mow').length, 2))
  const { open, emitted } = (await db.diagnostics()).streams
  assert.deepEqual([open, emitted], [1, 1])
  await db.execute('DELETE FROM tasks WHERE id = 1')
  await waitFor(() => assert.equal(screen.getAllByText('Mow').length, 2))
})

// G172
test('with Suspense, a transition to other parameters keeps what is shown until the new value is there', async (t) => {
  const { db } = await fixture(t)
  const shown: string[] = []
  let show = (_list: number) => {}
  function Page() {
    const [list, set] = useState(7)
    show = (list) => startTransition(() => set(list))
    const { data } = useLiveQuerySuspense(tasksOf(db, list))
    const text = data.map(({ title }) => title).join()
    useLayoutEffect(() => void shown.push(text), [text])
    return h('p', null, text)
  }
  await act(async () => void render(h(Suspense, { fallback: h(Fallback) }, h(Page))))
  function Fallback() {
    useLayoutEffect(() => void shown.push('waiting'), [])
    return null
  }
  await screen.findByText('Rake,Mow')
  await act(async () => show(8))
  await screen.findByText('Paint')
  assert.deepEqual(shown, ['waiting', 'Rake,Mow', 'Paint'])
})

// G172
test('with Suspense, an error before the first value goes to the error boundary', async (t) => {
  const { db } = await fixture(t)
  t.mock.method(console, 'error', () => {}) // React reports the error
  const source = db.stream<Task>('SELECT * FROM none')
  const page = h(Boundary, null, h(Suspense, { fallback: 'waiting' }, h(WaitingTitles, { source })))
  await act(async () => void render(page))
  await screen.findByText(/no such table: none/)
})

// G170
test('with Suspense, a component that is never mounted frees its subscription', async (t) => {
  t.after(cleanup)
  const source = new ScriptedSource<Task[]>()
  const { unmount } = render(h(Suspense, { fallback: 'waiting' }, h(WaitingTitles, { source })))
  await turn()
  assert.equal(source.open, 1)
  unmount()
  source.next([rake])
  while (source.open > 0) await turn()
})

/** What the server writes into a page. */
async function firstEvent(live: Parameters<typeof sseEvents<Task[]>>[0]): Promise<RemoteEvent> {
  for await (const event of sseEvents(live, { key: 'id' })) return event
  throw new Error('there is no event')
}

// G173
test('a page that the server has drawn goes on from there', async (t) => {
  const { db, tasks } = await fixture(t)
  const keep = tasks(7).subscribe(() => {}) // another visitor
  const other = sseEvents(tasks(7), { key: 'id' })
  await other.next()
  const asked: IncomingHttpHeaders[] = []
  const { origin } = await serve(t, (request, response) => {
    asked.push(request.headers)
    void sendSSE(tasks(7), response, { key: 'id' })
  })
  const initial = await firstEvent(tasks(7))
  const page = () => h(Titles, { source: remoteQuery<Task>(origin, { initial }) })
  const container = pageElement(renderToString(page()))
  assert.equal(container.textContent, 'Rake,Mow')
  assert.equal(asked.length, 0)

  await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
  const errors: unknown[] = []
  const source = page()
  const root = await act(async () =>
    hydrateRoot(container, source, { onRecoverableError: (e) => errors.push(e) }),
  )
  await waitFor(() => assert.equal(container.textContent, 'Rake,Mow,Dig'))
  assert.deepEqual(errors, [])
  assert.equal(asked[0]?.['last-event-id'], initial.id)
  await act(async () => root.unmount())
  await other.return()
  keep()
})

// G173
test('a server waits for the live query with Suspense, and the browser then goes on with a remote one', async (t) => {
  const { db, tasks } = await fixture(t)
  const page = (source: LiveSource<readonly Task[]>) =>
    h(Suspense, { fallback: 'waiting' }, h(WaitingTitles, { source }))
  const body = new PassThrough()
  const { pipe } = renderToPipeableStream(page(tasks(7)), { onAllReady: () => pipe(body) })
  const container = pageElement(await text(body))
  assert.equal(container.textContent, 'Rake,Mow')

  const { origin, server } = await serve(t, (_, response) => void sendSSE(tasks(7), response, { key: 'id' }))
  const errors: unknown[] = []
  const asked = once(server, 'request')
  const remote = page(remoteQuery<Task>(origin))
  const root = await act(async () =>
    hydrateRoot(container, remote, { onRecoverableError: (e) => errors.push(e) }),
  )
  await asked
  assert.equal(container.textContent, 'Rake,Mow')
  await db.execute('DELETE FROM tasks WHERE id = 2')
  await waitFor(() => assert.equal(container.textContent, 'Rake'))
  await act(async () => root.unmount())
  await noStreams(db)
})
