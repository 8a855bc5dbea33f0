// The subpath `resqlite/solid`.
import { type Accessor, createEffect, createMemo, createSignal, onCleanup } from 'solid-js'
import type { LiveResult, LiveSource } from './live-source.mjs'
import { storeOf } from './live-store.mjs'

export type * from './live-source.mjs'

/**
 * Returns a signal with what a live query or a remote query has. `source` is a function, since the query may become another
 * one. Components that use equal ones share one subscription. A row that did not change is the same object, so `For` makes
 * only what has changed, without `reconcile`.
 *
 * ```tsx
 * const tasks = createLiveQuery(() => remoteQuery<Task>(`/lists/${props.list}`))
 * return <For each={tasks().data}>{(task) => <li>{task.title}</li>}</For>
 * ```
 */
export function createLiveQuery<V>(source: Accessor<LiveSource<V>>): Accessor<LiveResult<V>> {
  const store = createMemo(() => storeOf(source()))
  const [changed, change] = createSignal(undefined, { equals: false })
  // Not on a server, which shows what there is.
  createEffect(() => onCleanup(store().subscribe(change)))
  return () => {
    changed()
    return store().result()
  }
}
