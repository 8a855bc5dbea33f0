import './support/dom.mjs'
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { remoteQuery } from 'resqlite/client'
import type { LiveSource } from 'resqlite/solid'
import { importForBrowser } from './support/browser-bundle.mjs'
import { type PageElement, pageElement } from './support/page-element.mjs'
import { ScriptedSource } from './support/scripted-source.mjs'
import { noStreams, servedTasks, type Task, taskDatabase, tasksOf, turn } from './support/tasks.mjs'

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

// G167
test('a component shows the result, each new one, and that of other parameters', async (t) => {
  const db = await taskDatabase(t)
  const [list, setList] = page.createSignal(7)
  const { container, until, unmount } = show(() => tasksOf(db, list()))
  assert.equal(container.textContent, 'connecting')
  await until('RakeMow')
  await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
  await until('RakeMowDig')
  setList(8)
  await until('Paint')
  assert.equal((await db.diagnostics()).streams.open, 1)
  unmount()
  await noStreams(db)
})

// G171
test('a remote query is shown by the same component, and elements of rows that did not change are kept', async (t) => {
  const db = await taskDatabase(t)
  const origin = await servedTasks(t, db)
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

// G173
test('a server shows what there is, and subscribes to nothing', async () => {
  const source = new ScriptedSource<Task[]>([{ id: 1, title: 'Rake' }])
  const { createLiveQuery } = await import('resqlite/solid')
  assert.deepEqual(createLiveQuery(() => source)().data, source.current)
  await turn()
  assert.equal(source.subscribed, 0)
})
