import type { LiveResult, LiveSource } from './live-source.mjs'
import { keyOf } from './source-key.mjs'

/** How long the source of a component that has not been mounted yet stays subscribed, in milliseconds. */
const UNMOUNTED_MILLISECONDS = 1000

/** The stores of sources that can tell which others they are equal to, by their keys; of others, by themselves. */
const byKey = new Map<string, LiveStore<unknown>>()
const bySource = new WeakMap<object, LiveStore<unknown>>()

/** Returns the store of a source. Equal sources have the same one while it is in use. */
export function storeOf<V>(source: LiveSource<V>): LiveStore<V> {
  const key = keyOf(source)
  const known = key === undefined ? bySource.get(source) : byKey.get(key)
  return (known as LiveStore<V> | undefined) ?? new LiveStore(source, key)
}

/**
 * A source for as many components as want to show it, with one subscription. It begins a microtask after the first listener
 * came, and ends one after the last has left, because frameworks subscribe and unsubscribe in one go.
 */
export class LiveStore<V> {
  /** What was there at first: the value that the server has written into the page, if it did. */
  readonly initial: LiveResult<V>
  readonly #source: LiveSource<V>
  readonly #key: string | undefined
  readonly #listeners = new Set<{ readonly listener: () => void }>()
  #result: LiveResult<V>
  #subscription: { unsubscribe(): void } | undefined
  #ready: Promise<void> | undefined
  /** While it runs, the store is kept without listeners. */
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(source: LiveSource<V>, key: string | undefined) {
    this.#source = source
    this.#key = key
    this.initial = this.#result = resultOf(source)
    this.#keep()
  }

  /** Is the same function always, and may be called without the store. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const member = { listener }
    this.#listeners.add(member)
    queueMicrotask(() => this.#beginOrEnd())
    return () => {
      this.#listeners.delete(member)
      queueMicrotask(() => this.#beginOrEnd())
    }
  }

  /** Is the same function always, too. Returns the same object until something has changed. */
  readonly result = (): LiveResult<V> => {
    if (this.#subscription === undefined) this.#set(resultOf(this.#source))
    return this.#result
  }

  /** Resolves when there is a value or an error, which is then kept for a moment. */
  ready(): Promise<void> {
    this.#ready ??= this.#untilReady()
    return this.#ready
  }

  async #untilReady(): Promise<void> {
    let stop = () => {}
    await new Promise<void>((resolve) => {
      const look = () => {
        const { data, error } = this.result()
        if (data !== undefined || error !== undefined) resolve()
      }
      stop = this.subscribe(look)
      look()
    })
    this.#ready = undefined
    this.#keep()
    stop()
  }

  #keep(): void {
    this.#register()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#beginOrEnd()
    }, UNMOUNTED_MILLISECONDS)
  }

  #beginOrEnd(): void {
    if (this.#listeners.size > 0) this.#begin()
    else if (this.#timer === undefined) this.#end()
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#subscription !== undefined) return
    this.#register()
    this.#set(resultOf(this.#source))
    this.#subscription = { unsubscribe() {} }
    const fail = (error: Error) => this.#set({ ...this.#result, state: 'error', error })
    try {
      this.#subscription = this.#source.subscribe({
        next: (data) => this.#set({ ...resultOf(this.#source), data }),
        error: fail,
        state: () => this.#set(resultOf(this.#source)),
        complete: () =>
          fail(new Error('The live query has ended: the database was closed, or its signal has fired')),
      })
    } catch (error) {
      fail(error as Error)
    }
  }

  #end(): void {
    this.#subscription?.unsubscribe()
    this.#subscription = undefined
    if (this.#key !== undefined && byKey.get(this.#key) === this) byKey.delete(this.#key)
  }

  #register(): void {
    if (this.#key === undefined) bySource.set(this.#source, this)
    else if (!byKey.has(this.#key)) byKey.set(this.#key, this)
  }

  #set(next: LiveResult<V>): void {
    const { data, state, error } = this.#result
    if (next.data === data && next.state === state && next.error === error) return
    this.#result = next
    for (const { listener } of [...this.#listeners]) listener()
  }
}

function resultOf<V>({ current, state, error }: LiveSource<V>): LiveResult<V> {
  return { data: current, state: state ?? (current === undefined ? 'connecting' : 'live'), error }
}
