import { runOutside } from './context'
import type { Failure } from './errors'
import type { Consumer, Live } from './live-query'
import type { Emission } from './live-types'

/** The callbacks of one subscription. */
export class Subscriber<V> implements Consumer {
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
    this.#live = live
    this.#next = next
    this.#error = error
    this.#origin = origin(live.subscribe)
  }

  emitted(): void {
    const { current, emission } = this.#live
    guarded(() => this.#next(current as V, emission as Emission))
  }

  failed(failure: Failure): void {
    const error = failure.toError(this.#live.sql)
    error.stack = `${error}${this.#origin.stack?.replace(/^[^\n]*/, '')}`
    guarded(() => {
      if (this.#error === undefined) throw error
      this.#error(error)
    })
  }

  ended(failure: Failure, closed: boolean): void {
    if (!closed || this.#error !== undefined) this.failed(failure)
  }

  /** Whoever gives a subscription up knows that it is over. */
  aborted(): void {}
}

/** A stack trace that begins with the caller of `called`, where the engine can leave frames out. */
function origin(called: (...args: never[]) => unknown): { stack?: string } {
  if (Error.captureStackTrace === undefined) return new Error()
  const target = {}
  Error.captureStackTrace(target, called)
  return target
}

/** Runs a callback of the user. What it throws becomes an uncaught exception and disturbs nobody here. */
function guarded(callback: () => void): void {
  try {
    runOutside(callback)
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}
