import { checkBody, refused } from './checks'
import { asyncDispose } from './dispose'
import { Failure } from './failure'
import type { LiveIterator } from './live-types'

/** The outcome of a `next`: a value, an error, or (undefined) the end. */
export type Outcome<T> = { readonly value: T } | Failure | undefined

/**
 * The source of the values of an iterator. It may hold native resources, such as a connection. It must not refer to the
 * iterator, because then the iterator could never be collected.
 */
export interface IterationSource<T> {
  /** The SQL text, for errors, if the source runs one statement. */
  readonly sql?: string | undefined
  /** The source holds native resources, which `end` releases. */
  readonly holdsResources: boolean
  /** Returns the next value if it is available at once. */
  ready?(): IteratorYieldResult<T> | undefined
  next(): Promise<Outcome<T>>
  /** Ends the source, and any `next` that is under way. Settles when all resources are released. */
  end(): Promise<void>
}

/** Releases the resources of iterators that were garbage-collected before they ended. */
const collected = new FinalizationRegistry<IterationSource<unknown>>((source) => source.end())

/**
 * The iterator that the caller gets. Nothing but a `next` that is under way refers to it. If the caller drops the iterator
 * without ending it, the iterator is therefore collected, and its resources are released.
 */
export class Iteration<T> implements LiveIterator<T> {
  readonly #source: IterationSource<T>
  #registered = false
  #isOver = false

  /** `owner`: an object that ends the source when it is collected, so it must live as long as this iterator. */
  constructor(
    source: IterationSource<T>,
    readonly owner?: object,
  ) {
    this.#source = source
  }

  /** Throws if this iterator is over, because a loop over it would silently do nothing. */
  [Symbol.asyncIterator](): this {
    if (this.#isOver) throw refused('this iterator is over: call the method again that has returned it')
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const ready = this.#source.ready?.()
    return ready === undefined ? this.#wait() : Promise.resolve(ready)
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this.#end()
    return { value: undefined, done: true }
  }

  async throw(error?: unknown): Promise<IteratorResult<T, undefined>> {
    await this.#end()
    throw error
  }

  async [asyncDispose](): Promise<void> {
    await this.#end()
  }

  map<U>(make: (value: T) => U | PromiseLike<U>): LiveIterator<U> {
    checkBody('map', make)
    return new Iteration(new MappedSource(this, make))
  }

  #end(): Promise<void> {
    this.#isOver = true
    return this.#source.end()
  }

  /** Waits for the next value. Uses `this` after the wait, which keeps the iterator from being collected meanwhile. */
  async #wait(): Promise<IteratorResult<T, undefined>> {
    let isOver = true
    try {
      const outcome = await this.#source.next()
      // The iterator is not registered earlier, because that costs more than reading a result that fits in one batch.
      if (!this.#registered && this.#source.holdsResources) this.#register()
      if (outcome instanceof Failure) throw outcome.toError(this.#source.sql)
      if (outcome === undefined) return { value: undefined, done: true }
      isOver = false
      return { value: outcome.value, done: false }
    } finally {
      this.#isOver ||= isOver
    }
  }

  #register(): void {
    this.#registered = true
    collected.register(this, this.#source)
  }
}

/** The values of another iterator, changed by a function. */
class MappedSource<T, U> implements IterationSource<U> {
  readonly holdsResources = false
  /** The other iterator, which releases its resources itself if it is collected. */
  readonly #inner: Iteration<T>
  readonly #make: (value: T) => U | PromiseLike<U>
  #isEnded = false
  /** The functions that end the waits for values that `make` has not made yet. */
  readonly #waits = new Set<() => void>()

  constructor(inner: Iteration<T>, make: (value: T) => U | PromiseLike<U>) {
    this.#inner = inner
    this.#make = make
  }

  async next(): Promise<Outcome<U>> {
    const { value, done } = await this.#inner.next()
    if (done || this.#isEnded) return undefined
    try {
      return await this.#made(value)
    } catch (error) {
      await this.end()
      throw error
    }
  }

  #made(value: T): Promise<Outcome<U>> {
    return new Promise((resolve, reject) => {
      const leave = () => resolve(undefined)
      this.#waits.add(leave)
      Promise.resolve(this.#make(value))
        .then((made) => resolve({ value: made }), reject)
        .finally(() => this.#waits.delete(leave))
    })
  }

  async end(): Promise<void> {
    this.#isEnded = true
    for (const leave of this.#waits) leave()
    await this.#inner.return()
  }
}
