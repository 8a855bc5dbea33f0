import './support/dom.mjs'
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { mount } from '@vue/test-utils'
import { remoteQuery } from 'resqlite/client'
import { type LiveSource, useLiveQuery } from 'resqlite/vue'
import { defineComponent, h, isReactive, type PropType } from 'vue'
import { renderToString } from 'vue/server-renderer'
import { ScriptedSource } from './support/scripted-source.mjs'
import { noStreams, servedTasks, type Task, taskDatabase, tasksOf, turn } from './support/tasks.mjs'

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

// G167
test('a component shows the result, each new one, and that of other parameters', async (t) => {
  const db = await taskDatabase(t)
  const { wrapper, until } = show(t, { sourceOf: (list) => tasksOf(db, list) })
  assert.equal(wrapper.text(), 'connecting')
  await until('Rake,Mow')
  await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
  await until('Rake,Mow,Dig')
  await wrapper.setProps({ list: 8 })
  await until('Paint')
  assert.equal((await db.diagnostics()).streams.open, 1)
  wrapper.unmount()
  await noStreams(db)
})

// G167
test('the same component shows a remote query', async (t) => {
  const db = await taskDatabase(t)
  const origin = await servedTasks(t, db)
  const { until } = show(t, { sourceOf: () => remoteQuery<Task>(origin) })
  await until('Rake,Mow')
  await db.execute('DELETE FROM tasks WHERE id = 1')
  await until('Mow')
})

// G171
test('rows that did not change are the same objects, and not reactive', async (t) => {
  const db = await taskDatabase(t)
  const values: (readonly Task[])[] = []
  const { until } = show(t, {
    sourceOf: () => tasksOf(db, 7),
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

// G173
test('a server draws what there is, and subscribes to nothing', async () => {
  const source = new ScriptedSource<Task[]>([{ id: 1, title: 'Rake' }])
  assert.equal(await renderToString(h(Titles, { sourceOf: () => source })), '<p>Rake</p>')
  await turn()
  assert.equal(source.subscribed, 0)
})
