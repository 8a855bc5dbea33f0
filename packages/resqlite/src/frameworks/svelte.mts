// The subpath `resqlite/svelte`. A store of Svelte is whatever can be subscribed to in this way.
import type { LiveResult, LiveSource } from './live-source.mjs'
import { storeOf } from './live-store.mjs'

export type * from './live-source.mjs'

/** A readable store of Svelte. */
export interface LiveReadable<V> {
  subscribe(run: (result: LiveResult<V>) => void): () => void
}

/**
 * Returns a store with what a live query or a remote query has: `$tasks.data`, or with runes `fromStore(tasks).current.data`.
 * Stores of equal ones share one subscription.
 *
 * ```ts
 * const tasks = liveQuery(remoteQuery<Task>('/lists/7'))
 * ```
 */
export function liveQuery<V>(source: LiveSource<V>): LiveReadable<V> {
  return {
    subscribe(run) {
      const store = storeOf(source)
      const show = () => run(store.result())
      const stop = store.subscribe(show)
      show()
      return stop
    },
  }
}
