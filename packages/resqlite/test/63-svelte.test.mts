import './support/dom.mjs'
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, test } from 'node:test'
import type { Plugin } from 'esbuild'
import { remoteQuery } from 'resqlite/client'
import type { LiveSource } from 'resqlite/svelte'
import { compile, compileModule } from 'svelte/compiler'
import { importForBrowser } from './support/browser-bundle.mjs'
import type { PageElement } from './support/page-element.mjs'
import { ScriptedSource } from './support/scripted-source.mjs'
import { noStreams, servedTasks, type Task, taskDatabase, tasksOf, turn } from './support/tasks.mjs'

const components: Record<string, string> = {
  'Runes.svelte': `
    <script>
      import { fromStore } from 'svelte/store'
      import { liveQuery } from 'resqlite/svelte'
      let { list = 7, sourceOf } = $props()
      const tasks = $derived(fromStore(liveQuery(sourceOf(list))))
    </script>
    {#each tasks.current.data ?? [] as task (task.id)}<li>{task.title}</li>{:else}{tasks.current.error?.message ?? tasks.current.state}{/each}
  `,
  'Stores.svelte': `
    <script>
      import { liveQuery } from 'resqlite/svelte'
      export let list = 7
      export let sourceOf
      $: tasks = liveQuery(sourceOf(list))
    </script>
    {#each $tasks.data ?? [] as task (task.id)}<li>{task.title}</li>{:else}{$tasks.error?.message ?? $tasks.state}{/each}
  `,
}

/** Compiles the components above, and those of the test library. */
const svelte: Plugin = {
  name: 'svelte',
  setup({ onResolve, onLoad, initialOptions }) {
    const resolveDir = initialOptions.stdin?.resolveDir ?? ''
    const compiled = (text: string) => compile(text, { generate: 'client' }).js.code
    onResolve({ filter: /^\w+\.svelte$/ }, ({ path }) => ({ path, namespace: 'here' }))
    onLoad({ filter: /.*/, namespace: 'here' }, ({ path }) => ({
      contents: compiled(components[path] as string),
      resolveDir,
    }))
    onLoad({ filter: /\.svelte$/ }, async ({ path }) => ({
      contents: compiled(await readFile(path, 'utf8')),
    }))
    onLoad({ filter: /\.svelte\.js$/ }, async ({ path }) => ({
      contents: compileModule(await readFile(path, 'utf8'), { generate: 'client' }).js.code,
    }))
  },
}

type SvelteComponent = object

interface Page {
  Runes: SvelteComponent
  Stores: SvelteComponent
  render(component: SvelteComponent, props: object): Rendered
}

interface Rendered {
  container: PageElement
  rerender(props: object): Promise<void>
  unmount(): void
}

let page: Page

before(async () => {
  const text = `
    export { default as Runes } from 'Runes.svelte'
    export { default as Stores } from 'Stores.svelte'
    export { render } from '@testing-library/svelte'
  `
  page = await importForBrowser<Page>(text, [svelte])
})

function show(
  component: 'Runes' | 'Stores',
  props: { sourceOf: (list: number) => LiveSource<readonly Task[]> },
) {
  const rendered = page.render(page[component], props)
  const until = async (text: string) => {
    while (rendered.container.textContent.trim() !== text) await turn()
  }
  return { ...rendered, until }
}

for (const component of ['Runes', 'Stores'] as const) {
  // G167
  test(`${component}: a component shows the result, each new one, and that of other parameters`, async (t) => {
    const db = await taskDatabase(t)
    const sourceOf = (list: number) => tasksOf(db, list)
    const { until, rerender, unmount } = show(component, { sourceOf })
    await until('RakeMow')
    await db.execute("INSERT INTO tasks VALUES (4, 7, 'Dig')")
    await until('RakeMowDig')
    await rerender({ list: 8 })
    await until('Paint')
    assert.equal((await db.diagnostics()).streams.open, 1)
    unmount()
    await noStreams(db)
  })

  // G167
  test(`${component}: the same component shows a remote query`, async (t) => {
    const db = await taskDatabase(t)
    const origin = await servedTasks(t, db)
    const { until, unmount } = show(component, { sourceOf: () => remoteQuery<Task>(origin) })
    t.after(unmount)
    await until('RakeMow')
    await db.execute('DELETE FROM tasks WHERE id = 1')
    await until('Mow')
  })

  test(`${component}: an error is shown`, async () => {
    const source = new ScriptedSource<Task[]>()
    const { until, unmount } = show(component, { sourceOf: () => source })
    await until('connecting')
    source.fail(new Error('down'))
    await until('down')
    unmount()
  })
}
