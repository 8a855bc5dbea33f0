import { throwIfAborted } from '../core/abort'
import { Failure } from '../core/failure'
import type { IterationSource, Outcome } from '../core/iteration'
import type { SharedQuery, Subscriber } from './shared-query'
import type { Subscribable } from './subscribable'

/** The source of the values that an iterator hands out: whole results, or the changes between them. */
export interface IteratorValues<T> {
  /** Returns the value for the latest result; undefined if nothing has changed since the last one. */
  take(): T | undefined
  /** Called when the iterator has ended. */
  left?(): void
}

/**
 * An iterator over the results of a live query. It keeps at most one result, so a slow consumer gets only the latest result.
 */
export class IteratorSubscriber<T> implements IterationSource<T>, Subscriber {
  isLate = false
  unwatch: (() => void) | undefined
  readonly #live: Subscribable<unknown>
  readonly #open: (shared: SharedQuery) => IteratorValues<T>
  #values: IteratorValues<T> | undefined
  #state: 'new' | 'open' | 'ended' = 'new'
  /** There is a result that has not been handed out. */
  #hasNew = false
  /** The failure of the queries, until a `next` has rejected with it. */
  #failure: Failure | undefined
  /** Calls of `next` that wait, in order. */
  readonly #waiting: ((outcome: Outcome<T>) => void)[] = []

  /** `open`: called once, when the iterator begins. */
  constructor(live: Subscribable<unknown>, open: (shared: SharedQuery) => IteratorValues<T>) {
    this.#live = live
    this.#open = open
  }

  get sql(): string | undefined {
    return this.#live.sql
  }

  get holdsResources(): boolean {
    return this.#state === 'open'
  }

  next(): Promise<Outcome<T>> {
    if (this.#state === 'new') this.#start()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#serve()
    })
  }

  async end(): Promise<void> {
    this.#failure = undefined
    this.#finish()
  }

  emitted(): void {
    this.#hasNew = true
    this.#failure = undefined
    this.#serve()
  }

  failed(failure: Failure): void {
    this.#failure = failure
    this.#serve()
  }

  ended(failure: Failure): void {
    this.#failure = failure
    this.#finish()
  }

  aborted(failure: Failure): void {
    this.ended(failure)
  }

  #start(): void {
    this.#state = 'ended' // stays so if this fails
    throwIfAborted(this.#live.signal)
    this.#live.join(this)
    this.#values = this.#open(this.#live.shared as SharedQuery)
    this.#state = 'open'
  }

  #finish(): void {
    this.#leave()
    this.#serve()
  }

  #leave(): void {
    if (this.#state === 'open') {
      this.#live.leave(this)
      this.#values?.left?.()
    }
    this.#state = 'ended'
    this.#hasNew = false
  }

  /** Settles waiting calls of `next` for as long as there is an outcome for them. */
  #serve(): void {
    while (this.#waiting.length > 0) {
      const outcome = this.#outcome()
      if (outcome === undefined && this.#state !== 'ended') return
      this.#waiting.shift()?.(outcome)
    }
  }

  #outcome(): Outcome<T> {
    const outcome = this.#failure ?? this.#take()
    if (!(outcome instanceof Failure)) return outcome
    this.#failure = undefined
    this.#leave()
    return outcome
  }

  #take(): Outcome<T> {
    if (!this.#hasNew) return undefined
    this.#hasNew = false
    try {
      const value = this.#values?.take()
      return value === undefined ? undefined : { value }
    } catch (error) {
      return new Failure(() => error as Error)
    }
  }
}
