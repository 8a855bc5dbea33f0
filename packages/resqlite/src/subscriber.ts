import { runOutside } from './context'
import type { Failure } from './errors'
import type { Consumer, Live } from './live-query'
import type { Emission } from './live-types'

/** The callbacks of one subscription. */
export class Subscriber<V> implements Consumer {
  readonly #live: Live<V>
  readonly #next: (value: V, info: Emission) => void
  readonly #error: ((error: Error) => void) | undefined
  /** Where `subscribe` was called. */
  readonly #origin = new Error()

  constructor(
    live: Live<V>,
    next: (value: V, info: Emission) => void,
    error: ((error: Error) => void) | undefined,
  ) {
    this.#live = live
    this.#next = next
    this.#error = error
    Error.captureStackTrace?.(this.#origin, live.subscribe)
  }

  emitted(): void {
    const { current, emission } = this.#live
    guarded(() => this.#next(current as V, emission as Emission))
  }

  failed(failure: Failure): void {
    const error = failure.toError(this.#live.sql)
    error.stack = `${error}${this.#origin.stack?.replace(/^Error/, '')}`
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
