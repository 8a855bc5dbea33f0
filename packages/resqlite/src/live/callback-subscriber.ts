import { AsyncResource } from 'node:async_hooks'
import { CLOSED, type Failure } from '../core/errors'
import type { Emission } from '../core/live-types'
import { runOutside } from '../core/transaction-context'
import type { Consumer, Live } from './live-query'

/** Nothing to be told when it is collected, which would cost more than the rest. */
const CONTEXT = { requireManualDestroy: true }

/** The callbacks of one subscription. They run in the asynchronous context in which `subscribe` was called. */
export class Subscriber<V> extends AsyncResource implements Consumer {
  late = false
  unwatch: (() => void) | undefined
  readonly #live: Live<V>
  readonly #next: (value: V, info: Emission) => void
  readonly #error: ((error: Error) => void) | undefined
  /** Where `subscribe` was called: one stack trace, the only costly thing here. */
  readonly #origin: { stack?: string }

  constructor(
    live: Live<V>,
    next: (value: V, info: Emission) => void,
    error: ((error: Error) => void) | undefined,
  ) {
    super('resqlite.subscribe', CONTEXT)
    this.#live = live
    this.#next = next
    this.#error = error
    this.#origin = origin(live.subscribe)
  }

  emitted(): void {
    const { current, emission } = this.#live
    this.#call(() => this.#next(current as V, emission as Emission))
  }

  failed(failure: Failure): void {
    this.#fail(failure, false)
  }

  /** Closing the database is nobody's mistake, and neither is it to subscribe again when told, which is refused. */
  ended(failure: Failure, closed: boolean): void {
    if (!closed || this.#error !== undefined) this.#fail(failure, closed)
  }

  /** Whoever gives a subscription up knows that it is over. */
  aborted(): void {}

  #fail(failure: Failure, closed: boolean): void {
    const error = failure.toError(this.#live.sql)
    error.stack = `${error}${this.#origin.stack?.replace(/^[^\n]*/, '')}`
    this.#call(() => {
      if (this.#error === undefined) throw error
      this.#error(error)
    }, closed)
  }

  /**
   * Calls the user, outside of transactions, in which `subscribe` may have been called. What is thrown becomes an
   * uncaught exception and disturbs nobody here; `closed`: unless it is the refusal of a closed database.
   */
  #call(callback: () => void, closed = false): void {
    try {
      this.runInAsyncScope(runOutside, undefined, callback)
    } catch (error) {
      if (closed && (error as { code?: unknown } | undefined)?.code === CLOSED) return
      queueMicrotask(() => {
        throw error
      })
    }
  }
}

/** A stack trace that begins with the caller of `called`, where the engine can leave frames out. */
function origin(called: (...args: never[]) => unknown): { stack?: string } {
  if (Error.captureStackTrace === undefined) return new Error()
  const target = {}
  Error.captureStackTrace(target, called)
  return target
}
