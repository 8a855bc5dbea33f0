import type { LiveSource, LiveSourceObserver, LiveState } from 'resqlite/react'

/** A source that has what the test says, and counts its subscriptions. */
export class ScriptedSource<V> implements LiveSource<V> {
  current: V | undefined
  state: LiveState = 'connecting'
  error: Error | undefined
  /** How many subscriptions there were, and are. */
  subscribed = 0
  open = 0
  readonly #observers = new Set<LiveSourceObserver<V>>()

  constructor(current?: V) {
    this.current = current
    if (current !== undefined) this.state = 'stale'
  }

  subscribe(observer: LiveSourceObserver<V>): { unsubscribe(): void } {
    this.subscribed++
    this.open++
    this.#observers.add(observer)
    return {
      unsubscribe: () => {
        if (this.#observers.delete(observer)) this.open--
      },
    }
  }

  next(value: V): void {
    this.current = value
    this.error = undefined
    this.state = 'live'
    for (const observer of this.#observers) {
      observer.next(value)
      observer.state('live')
    }
  }

  fail(error: Error): void {
    this.error = error
    this.state = 'error'
    for (const observer of this.#observers) {
      observer.error(error)
      observer.state('error')
    }
  }

  /** The connection is lost. */
  lose(): void {
    this.state = 'stale'
    for (const observer of this.#observers) observer.state('stale')
  }

  complete(): void {
    for (const observer of this.#observers) observer.complete()
  }
}
