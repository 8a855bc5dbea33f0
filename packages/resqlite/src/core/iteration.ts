import { asyncDispose } from './dispose'
import { Failure } from './errors'

/** How a `next` ends: with a value, an error, or (undefined) the end. */
export type Outcome<T> = { readonly value: T } | Failure | undefined

/** Where an iterator gets its values from, and what holds on to native threads. It must not refer to the iterator. */
export interface Supply<T> {
  /** The statement, for errors. */
  readonly sql: string | undefined
  /** It holds something natively, which `end` gives back. */
  readonly holds: boolean
  /** The next value, if it is there already. */
  ready(): IteratorYieldResult<T> | undefined
  next(): Promise<Outcome<T>>
  /** Ends it at once, also while a `next` is under way, which then is told so. Settles when nothing is held any more. */
  end(): Promise<void>
}

/** Ends what the iterators held that nobody can reach any more. */
const collected = new FinalizationRegistry<Supply<unknown>>((supply) => supply.end())

/**
 * The iterator that a caller holds. Nothing here refers to it except a `next` that is under way: so when its caller has
 * forgotten it, it is collected, and what it held is given back.
 */
export class Iteration<T> implements AsyncIterableIterator<T> {
  readonly #supply: Supply<T>
  #registered = false

  constructor(supply: Supply<T>) {
    this.#supply = supply
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const ready = this.#supply.ready()
    return ready === undefined ? this.#wait() : Promise.resolve(ready)
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    await this.#supply.end()
    return { value: undefined, done: true }
  }

  async throw(error?: unknown): Promise<IteratorResult<T, undefined>> {
    await this.#supply.end()
    throw error
  }

  async [asyncDispose](): Promise<void> {
    await this.#supply.end()
  }

  /** Uses the iterator after the wait, which keeps it from being collected meanwhile. */
  async #wait(): Promise<IteratorResult<T, undefined>> {
    const outcome = await this.#supply.next()
    // Not sooner: registering costs more than reading a result that comes as one batch.
    if (!this.#registered && this.#supply.holds) this.#register()
    if (outcome instanceof Failure) throw outcome.toError(this.#supply.sql)
    return outcome === undefined ? { value: undefined, done: true } : { value: outcome.value, done: false }
  }

  #register(): void {
    this.#registered = true
    collected.register(this, this.#supply)
  }
}
