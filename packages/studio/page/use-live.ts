import { useEffect, useMemo, useState } from 'preact/hooks'
import type { RemoteQuery, RemoteState } from 'resqlite/client'
import { live } from './api.ts'

/** The present value of a live query of the studio. */
export interface Live<T> {
  readonly rows: readonly T[] | undefined
  readonly state: RemoteState
  readonly code: string | undefined
}

/** Follows a live query while the page can be seen: browsers allow few connections, and nobody looks at a hidden page. */
export function follow<T>(query: RemoteQuery<T>, changed: () => void): () => void {
  let stop = () => {}
  const update = () => {
    stop()
    stop = document.hidden
      ? () => {}
      : query.subscribe({ next: changed, state: changed, error: changed }).unsubscribe
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    stop()
  }
}

export interface Fact {
  readonly kind: string
  readonly id: number
  readonly data: string
}

/** Follows the facts of some kinds. */
export function useFacts(...kinds: string[]): Live<Fact> {
  const query = useMemo(
    () =>
      live<Fact>(
        'facts',
        kinds.map((kind) => ['kind', kind]),
      ),
    [kinds.join()],
  )
  const [, changed] = useState(0)
  useEffect(() => follow(query, () => changed((times) => times + 1)), [query])
  return { rows: query.current, state: query.state, code: query.error?.code }
}

const parsed = new WeakMap<Fact, unknown>()

/** The data of a fact. A fact that has not changed is the same object, so it is parsed once. */
export function dataOf<T>(fact: Fact): T {
  if (!parsed.has(fact)) parsed.set(fact, JSON.parse(fact.data))
  return parsed.get(fact) as T
}

/** The data of all facts of a kind, by their numbers. */
export function factsOf<T>(rows: readonly Fact[] | undefined, kind: string): [id: number, data: T][] {
  return (rows ?? []).filter((fact) => fact.kind === kind).map((fact) => [fact.id, dataOf<T>(fact)])
}
