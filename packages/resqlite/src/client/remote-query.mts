import { checkOptions } from './check-options.mjs'
import { Connection } from './connection.mjs'
import type { ParsedEvent } from './event-parser.mjs'
import { fold } from './fold.mjs'
import { RemoteError } from './remote-error.mjs'
import { withKnownRows } from './same-rows.mjs'
import type {
  RemoteInfo,
  RemoteObserver,
  RemoteOptions,
  RemotePatch,
  RemoteQuery,
  RemoteState,
  RemoteSubscription,
} from './types.mjs'

/**
 * Returns the live query behind an address at which a server answers with `sendSSE` or `sseResponse` of `resqlite/sse`.
 *
 * When the connection is lost it comes back by itself, and asks only for what has changed since. A patch that does not lead
 * on from the present value is refused: then it asks for the whole result. Wrong options throw a TypeError.
 *
 * ```ts
 * const tasks = remoteQuery<Task>('/tasks')
 * const stop = tasks.subscribe((rows) => render(rows))
 * ```
 */
export function remoteQuery<T = Record<string, unknown>>(
  url: string | URL,
  options: RemoteOptions = {},
): RemoteQuery<T> {
  checkOptions(options)
  return new Remote<T>(String(url), options)
}

/** The name under which `resqlite/react` and its like ask what makes a query equal to others. */
const equality = Symbol.for('resqlite.equality')

/** The JSON of the events `full` and `patch`. */
interface EventPatch<T> extends RemotePatch<T> {
  readonly commit: number
  readonly since: number
  readonly version: number
}

/** An observer, and the value that it was told last. */
interface Observing<T> {
  readonly observer: RemoteObserver<T>
  told: readonly T[] | undefined
}

class Remote<T> implements RemoteQuery<T> {
  current: readonly T[] | undefined
  commit: number | undefined
  state: RemoteState = 'connecting'
  error: RemoteError | undefined
  readonly #url: string
  readonly #options: RemoteOptions
  readonly #observers = new Set<Observing<T>>()
  #connection: Connection | undefined
  /** The version of `current`. */
  #version = 0
  /** The id of the event that brought it. Without an id, the server sends the whole result. */
  #id = ''
  /** While observers are told: the value before, and the patches that led from there, unless the value came as a whole. */
  #before: readonly T[] | undefined
  #patches: RemotePatch<T>[] | undefined

  constructor(url: string, options: RemoteOptions) {
    this.#url = url
    this.#options = options
    const { initial } = options
    if (initial === undefined) return
    this.#got([{ id: '', ...initial, name: initial.event }])
    if (this.state === 'live') this.state = 'stale'
  }

  /** What the server wrote into a page is for that page only. */
  get [equality](): readonly unknown[] | undefined {
    return this.#options.initial === undefined ? [this.#url, this.#options] : undefined
  }

  /** A property, so that it can be passed on without its object, and is always the same. */
  readonly subscribe = (
    first: RemoteObserver<T> | ((rows: readonly T[], info: RemoteInfo<T>) => void),
    error?: (error: RemoteError) => void,
  ): RemoteSubscription => {
    const observer = typeof first === 'function' ? ({ next: first, error } as RemoteObserver<T>) : first
    const observing = { observer, told: undefined }
    this.#observers.add(observing)
    if (this.#connection === undefined) this.#connect()
    queueMicrotask(() => this.#tellValue(observing))
    const unsubscribe = () => {
      this.#observers.delete(observing)
      // Not at once: frameworks unsubscribe and subscribe again in one go.
      queueMicrotask(() => this.#disconnectIfUnused())
    }
    return Object.assign(unsubscribe, { unsubscribe })
  }

  reconnect(): void {
    if (this.#observers.size > 0) this.#connect()
  }

  #connect(): void {
    this.#connection?.close()
    this.#connection = new Connection(this.#url, this.#options, {
      lastEventId: () => this.#id,
      got: (events) => this.#got(events),
      lost: () => this.#lost(),
      refused: (error) => this.#update('error', error),
    })
  }

  #disconnectIfUnused(): void {
    if (this.#observers.size > 0 || this.#connection === undefined) return
    this.#connection.close()
    this.#connection = undefined
    this.#update(this.#withoutConnection)
  }

  /** A query that fails stays so until it works again. */
  #lost(): void {
    if (this.state !== 'error') this.#update(this.#withoutConnection)
  }

  get #withoutConnection(): RemoteState {
    return this.current === undefined ? 'connecting' : 'stale'
  }

  /** Takes events that came together. Throws if one does not fit; then the next connection begins with the whole result. */
  #got(events: readonly ParsedEvent[]): void {
    const { parse = JSON.parse } = this.#options
    let { state, error } = this
    this.#before = this.current
    this.#patches = []
    try {
      for (const { name, id, data } of events) {
        if (name === 'failed') {
          const { code } = parse(data) as { code: string }
          state = 'error'
          error = new RemoteError(`The live query failed on the server: ${code}`, code)
        } else if (name === 'full' || name === 'patch') {
          this.#apply(parse(data) as EventPatch<T>, name === 'full')
          this.#id = id
          state = 'live'
          error = undefined
        }
      }
    } catch (misfit) {
      this.#id = ''
      throw misfit
    } finally {
      this.#update(state, error)
      this.#before = undefined
      this.#patches = undefined
    }
  }

  #apply(patch: EventPatch<T>, isFull: boolean): void {
    if (isFull) {
      this.current = withKnownRows(fold([], patch), this.current)
      this.#patches = undefined
    } else if (this.current !== undefined && patch.since === this.#version) {
      this.current = fold(this.current, patch)
      this.#patches?.push(patch)
    } else throw new RangeError('The patch does not lead on from the present value')
    this.#version = patch.version
    this.commit = patch.commit
  }

  /** Tells the observers what has changed: the value, then the state. */
  #update(state: RemoteState, error?: RemoteError): void {
    const isNewState = state !== this.state
    const isNewError = error !== this.error
    this.state = state
    this.error = error
    for (const observing of [...this.#observers]) {
      this.#tellValue(observing)
      const { observer } = observing
      if (isNewError && error !== undefined) this.#call(observing, () => observer.error?.(error))
      if (isNewState) this.#call(observing, () => observer.state?.(state))
    }
  }

  #tellValue(observing: Observing<T>): void {
    const { current } = this
    if (current === undefined || current === observing.told) return
    const info = {
      commit: this.commit as number,
      patches: observing.told === this.#before ? this.#patches : undefined,
    }
    observing.told = current
    this.#call(observing, () => observing.observer.next?.(current, info))
  }

  /** Calls the user's callback, unless it has been unsubscribed. If it throws, the others are not affected. */
  #call(observing: Observing<T>, callback: () => void): void {
    if (!this.#observers.has(observing)) return
    try {
      callback()
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}
