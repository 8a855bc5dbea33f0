/**
 * What a screen can show: a live query of `db.stream`, of Kysely or Drizzle in this process, or a remote query of
 * `resqlite/client`.
 */
export interface LiveSource<V> {
  /** Calls the observer with the present value, if there is one, and with each new one. */
  subscribe(observer: LiveSourceObserver<V>): { unsubscribe(): void }
  /** The latest value; undefined before the first. */
  readonly current: V | undefined
  /** How the source is, if it says so. */
  readonly state?: LiveState | undefined
  /** Why the state is `'error'`, if the source says so. */
  readonly error?: Error | undefined
}

/** What {@link LiveSource.subscribe} calls. */
export interface LiveSourceObserver<V> {
  next(value: V): void
  error(error: Error): void
  state(state: LiveState): void
  complete(): void
}

/**
 * How a source is.
 *
 * - `'connecting'`: there is no value yet.
 * - `'live'`: the value is the present one.
 * - `'stale'`: the connection to the server is lost. The value is the last one.
 * - `'error'`: the query fails. The value is the last one, if there was any.
 */
export type LiveState = 'connecting' | 'live' | 'stale' | 'error'

/** What is known of a source. It is a new object whenever something has changed, and the same one until then. */
export interface LiveResult<V> {
  /** The latest value; undefined before the first. A row that did not change is the same object as before. */
  readonly data: V | undefined
  readonly state: LiveState
  /** Why the state is `'error'`; otherwise undefined. */
  readonly error: Error | undefined
}

/** A result with data. */
export interface LoadedResult<V> extends LiveResult<V> {
  readonly data: V
}
