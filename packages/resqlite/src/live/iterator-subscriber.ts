import { throwIfAborted } from '../core/abort'
import { Failure } from '../core/errors'
import type { Outcome, Supply } from '../core/iteration'
import type { Consumer, Live } from './live-query'
import type { RowPatch } from './patches'
import type { SharedStream } from './shared-query'

/** What an iterator makes of a stream. */
export interface Source<T> {
  /** There is a new result. More of them may come before the next `take`. */
  emitted(patches: readonly RowPatch[] | undefined): void
  /** What is handed out for the result now; undefined when it would say nothing new. */
  take(stream: SharedStream): T | undefined
}

/** The states of a live query, one after another. Who asks late gets the latest one: at most one is kept. */
export class StreamStates<T> implements Supply<T>, Consumer {
  late = false
  unwatch: (() => void) | undefined
  readonly #live: Live<unknown>
  readonly #source: Source<T>
  #state: 'new' | 'open' | 'ended' = 'new'
  /** There is a result that was not handed out. */
  #fresh = false
  /** The latest state is an error; told once. */
  #failure: Failure | undefined
  /** Calls of `next` that wait, in their order. */
  readonly #waiting: ((outcome: Outcome<T>) => void)[] = []

  constructor(live: Live<unknown>, source: Source<T>) {
    this.#live = live
    this.#source = source
  }

  get sql(): string | undefined {
    return this.#live.sql
  }

  get holds(): boolean {
    return this.#state === 'open'
  }

  /** Whatever is there goes through `next`: it may be superseded until it is asked for. */
  ready(): undefined {
    return undefined
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

  emitted(patches: readonly RowPatch[] | undefined): void {
    this.#source.emitted(patches)
    this.#fresh = true
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
    this.#state = 'open'
  }

  #finish(): void {
    this.#leave()
    this.#serve()
  }

  /** Uses the stream no longer. */
  #leave(): void {
    if (this.#state === 'open') this.#live.leave(this)
    this.#state = 'ended'
    this.#fresh = false
  }

  /** Answers those who wait, as far as there is something to say. */
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
    if (!this.#fresh) return undefined
    this.#fresh = false
    try {
      const value = this.#source.take(this.#live.stream as SharedStream)
      return value === undefined ? undefined : { value }
    } catch (error) {
      return new Failure(() => error as Error)
    }
  }
}
