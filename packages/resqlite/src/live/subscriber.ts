import type { Failure } from '../core/failure'
import type { Emission } from '../core/live-types'
import type { SharedQuery } from './shared-query'

/** A callback or an iterator that gets the values of a live query. */
export interface Subscriber {
  /** It joined when the live query had begun already, and has been given no result yet. Set by the live query. */
  isLate: boolean
  /** Stops listening to the abort signal for it. Set by the live query. */
  unwatch: (() => void) | undefined
  /** There is a result. `late`: it is not new, but the subscriber was late. */
  emitted(late: boolean): void
  /** The queries failed; the live query continues. */
  failed(failure: Failure): void
  /** The live query has ended. `closed`: because the database was closed. */
  ended(failure: Failure, closed: boolean): void
  /** The abort signal has fired. */
  aborted(failure: Failure): void
}

/** A live query as its subscribers see it. */
export interface Subscribable<V> {
  /** The SQL text, if there is only one. */
  readonly sql: string | undefined
  readonly signal: AbortSignal | undefined
  /** The latest value, and what is known about it. */
  readonly current: V | undefined
  readonly emission: Emission | undefined
  /** The shared live query behind it, while there are subscribers. */
  readonly shared: SharedQuery | undefined
  /**
   * Adds a subscriber. It gets the present result in a microtask, if that shows all that is committed, and otherwise as soon as the
   * result does. Throws if the database is closed.
   */
  join(subscriber: Subscriber): void
  /** Removes a subscriber, which is not called any more. */
  leave(subscriber: Subscriber): void
}
