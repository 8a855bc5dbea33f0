import './support/dom.mjs'
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { mount } from '@vue/test-utils'
import type { LiveQuery } from 'resqlite'
import { remoteQuery } from 'resqlite/client'
import { sendSSE } from 'resqlite/sse'
import { type LiveSource, useLiveQuery } from 'resqlite/vue'
import { defineComponent, h, isReactive, type PropType } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { ScriptedSource } from './support/scripted-source.mjs'
import { serve } from './support/sse.js'
import { tempDatabase } from './support/temp.js'

interface Task {
  id: number
  list: number
  title: string
}

const SCHEMA = `
  CREATE TABLE tasks(id INTEGER PRIMARY KEY, list INTEGER, title TEXT);
  INSERT INTO tasks VALUES (1, 7, 'Rake'), (2, 7, 'Mow'), (3, 8, 'Paint')
`
const SQL = 'SELECT id, list, title FROM tasks WHERE list = ? ORDER BY id'

const turn = () => new Promise(setImmediate)

const Titles = defineComponent({
  props: {
    list: { type: Number, default: 7 },
    sourceOf: { type: Function as PropType<(list: number) => LiveSource<readonly Task[]>>, required: true },
    seen: { type: Function as PropType<(rows: readonly Task[]) => void>, default: () => {} },
  },
  setup(props) {
    // biome-ignore lint/correctness/useHookAtTopLevel: this is not React
    const { data, state, error } = useLiveQuery(() => props.sourceOf(props.list))
    return () => {
      if (data.value !== undefined) props.seen(data.value)
      return h('p', data.value?.map(({ title }) => title).join() ?? error.value?.message ?? state.value)
    }
  },
})

/** Mounts the component until the test ends. */
function show(t: TestContext, props: InstanceType<typeof Titles>['$props']) {
  const wrapper = mount(Titles, { props })
  t.after(() => wrapper.unmount())
  const until = async (text: string) => {
    while (wrapper.text() !== text) await turn()
  }
  return { wrapper, until }
}

test('a component shows the result, each new one, and that of other parameters', async (t) => {
  const tasks = (list: number): LiveQuery<Task[]> => db.stream<Task>(SQL, [list])
  const db = await tempDatabase(t, SCHEMA)
  const { wrapper, until } = show(t, { sourceOf: tasks })
  assert.equal(wrapper.text(), 'connecting')
  await until('Rake,Mow')
  await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
  await until('Rake,Mow,Dig')
  await wrapper.setProps({ list: 8 })
  await until('Paint')
  assert.equal((await db.diagnostics()).streams.open, 1)
  wrapper.unmount()
  while ((await db.diagnostics()).streams.open > 0) await turn()
})

test('the same component shows a remote query', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const answer = { key: 'id' } as const
  const { origin } = await serve(
    t,
    (_, response) => void sendSSE(db.stream<Task>(SQL, [7]), response, answer),
  )
  const { until } = show(t, { sourceOf: () => remoteQuery<Task>(origin) })
  await until('Rake,Mow')
  await db.execute('DELETE FROM tasks WHERE id = 1')
  await until('Mow')
})

test('rows that did not change are the same objects, and not reactive', async (t) => {
  const db = await tempDatabase(t, SCHEMA)
  const values: (readonly Task[])[] = []
  const { until } = show(t, {
    sourceOf: () => db.stream<Task>(SQL, [7]),
    seen: (rows: readonly Task[]) => values.push(rows),
  })
  await until('Rake,Mow')
  await db.execute("UPDATE tasks SET title = 'Sow' WHERE id = 2")
  await until('Rake,Sow')
  const [before, now] = [values[0], values.at(-1)]
  assert.ok(before?.[0] === now?.[0] && before !== now)
  assert.ok(!isReactive(now) && !isReactive(now?.[0]))
})

test('an error is shown', async (t) => {
  const source = new ScriptedSource<Task[]>()
  const { wrapper } = show(t, { sourceOf: () => source })
  await turn()
  source.fail(new Error('down'))
  await turn()
  assert.equal(wrapper.text(), 'down')
})

test('a server draws what there is, and subscribes to nothing', async () => {
  const source = new ScriptedSource<Task[]>([{ id: 1, list: 7, title: 'Rake' }])
  assert.equal(await renderToString(h(Titles, { sourceOf: () => source })), '<p>Rake</p>')
  await turn()
  assert.equal(source.subscribed, 0)
})
