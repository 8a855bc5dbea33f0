import type { FoldablePatch } from './fold.mjs'
import type { RemoteError } from './remote-error.mjs'

/**
 * How a remote query is.
 *
 * - `'connecting'`: there is no value yet.
 * - `'live'`: `current` is what the live query on the server has.
 * - `'stale'`: the connection is lost, or nobody subscribes. `current` is the last value.
 * - `'error'`: the live query fails, or the server refuses. `error` says why, `current` is the last value.
 */
export type RemoteState = 'connecting' | 'live' | 'stale' | 'error'

/**
 * The type of the rows that a client gets of a live query, or of what a function returns: dates and BLOBs are texts, and bigints
 * numbers. Only the type of the server's code is needed, so nothing of that is in the page.
 *
 * ```ts
 * import type { openTasks } from './server.js' // const openTasks = () => live(db, db.select().from(tasks))
 *
 * const tasks = remoteQuery<RemoteRow<typeof openTasks>>('/tasks')
 * ```
 */
export type RemoteRow<L> = L extends (...args: never[]) => infer R
  ? RemoteRow<R>
  : L extends { readonly current: readonly (infer T)[] | undefined }
    ? Received<T>
    : never

/** A value after it was sent as JSON. */
type Received<T> = T extends bigint
  ? number
  : T extends Uint8Array
    ? string
    : T extends { toJSON(...args: never[]): infer J }
      ? Received<J>
      : T extends object
        ? { -readonly [K in keyof T]: Received<T[K]> }
        : T

/** Information about a value of a remote query. */
export interface RemoteInfo<T = unknown> {
  /** The value contains this commit, and all before it. Commits of different runs of the server do not compare. */
  readonly commit: number
  /** The patches that lead here from the value before; undefined if there was none, or if the server sent a whole result. */
  readonly patches: readonly RemotePatch<T>[] | undefined
}

/** A patch as the server sent it. */
export interface RemotePatch<T> extends FoldablePatch<T> {
  readonly removed: readonly { readonly index: number; readonly row: T }[]
}

/** An event of `sseEvents` of `resqlite/sse`. */
export interface RemoteEvent {
  readonly event: string
  readonly id?: string | undefined
  readonly data: string
}

/** What {@link RemoteQuery.subscribe} calls. */
export interface RemoteObserver<T> {
  /** There is a value. */
  next?(rows: readonly T[], info: RemoteInfo<T>): void
  /** The live query fails, or the server refuses. */
  error?(error: RemoteError): void
  /** The state has changed. */
  state?(state: RemoteState): void
}

/** Ends a subscription. Further calls do nothing. */
export interface RemoteSubscription {
  (): void
  /** The same, for code that expects the subscription of an observable. */
  unsubscribe(): void
}

/** Options of {@link remoteQuery}. Times are positive, and at most 2³¹ − 1 milliseconds. */
export interface RemoteOptions {
  /** Further headers of the requests, or a function that returns them, which is called for each. Default: none. */
  headers?: RemoteHeaders | (() => RemoteHeaders | Promise<RemoteHeaders>) | undefined
  /** Whether cookies are sent, as for `fetch`. Default: `'same-origin'`. */
  credentials?: 'omit' | 'same-origin' | 'include' | undefined
  /** Reads the JSON of an event, for example so that integers beyond 2⁵³ keep their digits. Default: `JSON.parse`. */
  parse?: ((json: string) => unknown) | undefined
  /**
   * The first event of `sseEvents` on the server, which wrote it into the page: its rows are there at once, and the server
   * is asked only for what has changed since. Default: none.
   */
  initial?: RemoteEvent | undefined
  /** Is called instead of `fetch`. */
  fetch?: typeof fetch | undefined
  /**
   * Milliseconds before the first attempt to connect again. Each further attempt waits up to twice as long. The actual delay
   * is a random value between half and all of that. Default: 500.
   */
  minDelay?: number | undefined
  /** The longest of these delays, in milliseconds. Default: 30,000. */
  maxDelay?: number | undefined
  /** Milliseconds without any event or heartbeat after which the connection counts as lost. Default: 45,000. */
  timeout?: number | undefined
}

/** Headers by their names. */
export type RemoteHeaders = Readonly<Record<string, string>>

/**
 * The result of a live query of a server, kept up to date. It is connected while it has subscribers.
 *
 * A row that did not change is the same object in the next value, so treat rows and arrays as read-only.
 */
export interface RemoteQuery<T> {
  /**
   * Calls `next` with the present value, if there is one, and whenever there is a new one. It may be passed on without its
   * object, as to `useSyncExternalStore` of React.
   */
  subscribe(
    next: (rows: readonly T[], info: RemoteInfo<T>) => void,
    error?: (error: RemoteError) => void,
  ): RemoteSubscription
  /** The same with an observer. */
  subscribe(observer: RemoteObserver<T>): RemoteSubscription
  /**
   * Connects anew, if there are subscribers: after the server has refused, or when there is reason to think that the
   * connection is lost.
   */
  reconnect(): void
  /** The latest value; undefined before the first. The same array until the next value. */
  readonly current: readonly T[] | undefined
  /**
   * `current` contains this commit, and all before it; undefined before the first value. While the state is not `'live'`, it
   * may be a commit of an earlier run of the server, which counted from the beginning, too.
   */
  readonly commit: number | undefined
  readonly state: RemoteState
  /** Why the state is `'error'`; otherwise undefined. */
  readonly error: RemoteError | undefined
}
