// The subpath `resqlite/vue`.
import { type ComputedRef, computed, type MaybeRefOrGetter, shallowRef, toValue, watchPostEffect } from 'vue'
import type { LiveResult, LiveSource } from './live-source.mjs'
import { storeOf } from './live-store.mjs'

export type * from './live-source.mjs'

/** A {@link LiveResult} as refs. */
export type LiveRefs<V> = { readonly [K in keyof LiveResult<V>]: ComputedRef<LiveResult<V>[K]> }

/**
 * Returns refs of what a live query or a remote query has. Give it a getter, or a ref, if the query may become another one.
 * Components that use equal ones share one subscription.
 *
 * ```ts
 * const { data, state } = useLiveQuery(() => remoteQuery<Task>(`/lists/${props.list}`))
 * ```
 */
export function useLiveQuery<V>(source: MaybeRefOrGetter<LiveSource<V>>): LiveRefs<V> {
  const store = computed(() => storeOf(toValue(source)))
  const changes = shallowRef(0)
  // Rows stay the objects that they are: nothing here makes them reactive.
  const result = computed(() => {
    changes.value
    return store.value.result()
  })
  // Not on a server, which shows what there is.
  watchPostEffect((onCleanup) => onCleanup(store.value.subscribe(() => changes.value++)))
  return {
    data: computed(() => result.value.data),
    state: computed(() => result.value.state),
    error: computed(() => result.value.error),
  }
}
