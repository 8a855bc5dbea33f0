import type { Emission } from '../core/live-types'
import type { SharedQuery, Subscriber } from './shared-query'

/** A live query as its subscribers see it. */
export interface Subscribable<V> {
  /** The SQL text, if there is only one. */
  readonly sql: string | undefined
  readonly signal: AbortSignal | undefined
  /** The latest value, and the information about it. */
  readonly current: V | undefined
  readonly emission: Emission | undefined
  /** The shared live query behind it, while there are subscribers. */
  readonly shared: SharedQuery | undefined
  /** Adds a subscriber to the shared live query. Throws if the database is closed. */
  join(subscriber: Subscriber): void
  /** Removes a subscriber, which is not called any more. */
  leave(subscriber: Subscriber): void
}
