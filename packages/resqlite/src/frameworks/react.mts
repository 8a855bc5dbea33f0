// The subpath `resqlite/react`.
import { useSyncExternalStore } from 'react'
import type { LiveResult, LiveSource, LoadedResult } from './live-source.mjs'
import { storeOf } from './live-store.mjs'

export type * from './live-source.mjs'

/**
 * Shows what a live query or a remote query has, and shows it anew whenever it has changed. Components that use equal ones
 * share one subscription and always show the same value, so the query may be written where it is used.
 *
 * ```tsx
 * function Tasks({ list }: { list: number }) {
 *   const { data, state } = useLiveQuery(remoteQuery<Task>(`/lists/${list}`))
 *   if (data === undefined) return <p>{state}</p>
 *   return <ul>{data.map((task) => <TaskItem key={task.id} task={task} />)}</ul>
 * }
 * ```
 */
export function useLiveQuery<V>(source: LiveSource<V>): LiveResult<V> {
  const store = storeOf(source)
  return useSyncExternalStore(store.subscribe, store.result, () => store.initial)
}

/**
 * The same with Suspense: the component waits until there is a value. If there is an error before the first value, it is
 * thrown, to the nearest error boundary; a later one is in `error`, beside the last value.
 *
 * ```tsx
 * const { data } = useLiveQuerySuspense(remoteQuery<Task>('/lists/7'))
 * ```
 */
export function useLiveQuerySuspense<V>(source: LiveSource<V>): LoadedResult<V> {
  const store = storeOf(source)
  // A page that waits on the server as well has no value of the server's.
  const written = () => (store.initial.data === undefined ? store.result() : store.initial)
  const result = useSyncExternalStore(store.subscribe, store.result, written)
  if (result.data === undefined) throw result.error ?? store.ready()
  return result as LoadedResult<V>
}
