import './support/dom.mjs'
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { LiveQuery } from 'resqlite'
import { remoteQuery } from 'resqlite/client'
import type { LiveSource } from 'resqlite/solid'
import { sendSSE } from 'resqlite/sse'
import { importForBrowser } from './support/browser-bundle.mjs'
import { type PageElement, pageElement } from './support/page-element.mjs'
import { ScriptedSource } from './support/scripted-source.mjs'
import { serve } from './support/sse.js'
import { tempDatabase } from './support/temp.js'

interface Task {
  id: number
  title: string
}

type Page = typeof import('resqlite/solid') &
  Pick<typeof import('solid-js'), 'createComponent' | 'createSignal' | 'For'> &
  Pick<typeof import('@solidjs/testing-library'), 'render' | 'cleanup'>

let page: Page

before(async () => {
  page = await importForBrowser<Page>(`
    export { createLiveQuery } from 'resqlite/solid'
    export { createComponent, createSignal, For } from 'solid-js'
    export { render, cleanup } from '@solidjs/testing-library'
  `)
})

const SCHEMA = `
  CREATE TABLE tasks(id INTEGER PRIMARY KEY, list INTEGER, title TEXT);
  INSERT INTO tasks VALUES (1, 7, 'Rake'), (2, 7, 'Mow'), (3, 8, 'Paint')
`
const SQL = 'SELECT id, title FROM tasks WHERE list = ? ORDER BY id'

const turn = () => new Promise(setImmediate)

/** Draws an element for each row, or else the state or the error. */
function show(source: () => LiveSource<readonly Task[]>) {
  const { createComponent, createLiveQuery, For, render } = page
  const elements: PageElement[] = []
  const Titles = () => {
    const tasks = createLiveQuery(source)
    const item = ({ title }: Task) => {
      const element = pageElement(title)
      elements.push(element)
      return element as never
    }
    const rows = createComponent(For<readonly Task[], never>, {
      get each() {
        return tasks().data
      },
      children: item,
    })
    return [
      rows,
      () => (tasks().data === undefined ? (tasks().error?.message ?? tasks().state) : ''),
    ] as never
  }
  const { container: element, unmount } = render(() => createComponent(Titles, {}))
  const container = element as unknown as PageElement
  const until = async (text: string) => {
    while (container.textContent !== text) await turn()
  }
  return { elements, container, unmount, until }
}

test('a component shows the result, each new one, and that of other parameters', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const tasks = (list: number): LiveQuery<Task[]> => db.stream<Task>(SQL, [list])
  const [list, setList] = page.createSignal(7)
  const { container, until, unmount } = show(() => tasks(list()))
  assert.equal(container.textContent, 'connecting')
  await until('RakeMow')
  await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
  await until('RakeMowDig')
  setList(8)
  await until('Paint')
  assert.equal((await db.diagnostics()).streams.open, 1)
  unmount()
  while ((await db.diagnostics()).streams.open > 0) await turn()
})

test('a remote query is shown by the same component, and elements of rows that did not change are kept', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const answer = { key: 'id' } as const
  const { origin } = await serve(
    t,
    (_, response) => void sendSSE(db.stream<Task>(SQL, [7]), response, answer),
  )
  const { elements, until, unmount } = show(() => remoteQuery<Task>(origin))
  t.after(unmount)
  await until('RakeMow')
  await db.execute("UPDATE tasks SET title = 'Sow' WHERE id = 2")
  await until('RakeSow')
  assert.deepEqual(
    elements.map(({ textContent }) => textContent),
    ['Rake', 'Mow', 'Sow'],
  )
})

test('an error is shown', async () => {
  const source = new ScriptedSource<Task[]>()
  const { until, unmount } = show(() => source)
  await turn()
  source.fail(new Error('down'))
  await until('down')
  unmount()
})

test('a server shows what there is, and subscribes to nothing', async () => {
  const source = new ScriptedSource<Task[]>([{ id: 1, title: 'Rake' }])
  const { createLiveQuery } = await import('resqlite/solid')
  assert.deepEqual(createLiveQuery(() => source)().data, source.current)
  await turn()
  assert.equal(source.subscribed, 0)
})
