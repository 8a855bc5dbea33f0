import { AsyncResource } from 'node:async_hooks'
import { CLOSED } from '../core/errors'
import type { Failure } from '../core/failure'
import type { CodedError, LiveObserver } from '../core/live-types'
import { runOutside } from '../core/transaction-context'
import type { Subscriber } from './shared-query'
import type { Subscribable } from './subscribable'

/**
 * Without this option, Node.js registers every subscription for a callback on garbage collection, which costs more than
 * everything else.
 */
const RESOURCE_OPTIONS = { requireManualDestroy: true }

/** The callbacks of one call of `subscribe`. They run in the asynchronous context of that call. */
export class CallbackSubscriber<V> extends AsyncResource implements Subscriber {
  isLate = false
  unwatch: (() => void) | undefined
  readonly #live: Subscribable<V>
  readonly #observer: LiveObserver<V>
  /** The stack trace of the call of `subscribe`, which is the most expensive part of a subscription. */
  readonly #origin: { stack?: string }

  /** `entryPoint`: the method that the user called. Stack traces begin at its caller. */
  constructor(live: Subscribable<V>, observer: LiveObserver<V>, entryPoint: (...args: never[]) => unknown) {
    super('resqlite.subscribe', RESOURCE_OPTIONS)
    this.#live = live
    this.#observer = observer
    this.#origin = stackOfCaller(entryPoint)
  }

  emitted(): void {
    const { emission } = this.#live
    if (emission === undefined) return
    // The rows are made inside of this callback, because making them may throw.
    this.#call(() => this.#observer.next?.(this.#live.current as V, emission))
  }

  failed(failure: Failure): void {
    this.#fail(failure, false)
  }

  /**
   * Ends the subscription. Closing the database is not an error that must be handled: without an error callback it is
   * ignored.
   */
  ended(failure: Failure, closed: boolean): void {
    this.#live.leave(this)
    if (closed && this.#observer.complete !== undefined) this.#complete()
    else if (!closed || this.#observer.error !== undefined) this.#fail(failure, closed)
  }

  aborted(): void {
    this.#complete()
  }

  #complete(): void {
    this.#call(() => this.#observer.complete?.(), true)
  }

  #fail(failure: Failure, closed: boolean): void {
    const error = failure.toError(this.#live.sql) as CodedError
    error.stack = `${error}${this.#origin.stack?.replace(/^[^\n]*/, '')}`
    this.#call(() => {
      if (this.#observer.error === undefined) throw error
      this.#observer.error(error)
    }, closed)
  }

  /**
   * Calls the user's callback, outside of any transaction in which `subscribe` may have been called. If it throws, the error
   * becomes an uncaught exception, and the other subscribers are not affected. `closed`: the database is closed. A callback
   * may then try to subscribe again, and the error with which the closed database refuses this is ignored.
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

/** Captures a stack trace that begins at the caller of `entryPoint`, if the JavaScript engine can leave frames out. */
function stackOfCaller(entryPoint: (...args: never[]) => unknown): { stack?: string } {
  if (Error.captureStackTrace === undefined) return new Error()
  const target = {}
  Error.captureStackTrace(target, entryPoint)
  return target
}
