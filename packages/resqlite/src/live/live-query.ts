import type { Handle } from '../channel/database-handle'
import { onAbort } from '../core/abort'
import { checkCallbacks, checkKey } from '../core/checks'
import { dispose } from '../core/dispose'
import { aborted, type Failure, typeError } from '../core/errors'
import { Iteration } from '../core/iteration'
import type {
  ChangesOptions,
  Emission,
  LiveQuery,
  Patch,
  RowIn,
  StreamStats,
  Unsubscribe,
} from '../core/live-types'
import { noStats } from '../stream-stats'
import { Subscriber } from './callback-subscriber'
import { Changes } from './changes'
import { StreamStates } from './iterator-subscriber'
import { LiveValue } from './live-value'
import type { RowPatch } from './patches'
import { type Member, SharedStream } from './shared-query'
import { eachMember, type Few, isAmong, sizeOf, withMember, withoutMember } from './small-set'
import type { StreamPlan } from './stream-plan'

/** One use of a live query: a subscription or an iterator. */
export interface Consumer {
  /** It joined when there was a result already and has not been told yet. Set by the live query. */
  late: boolean
  /** Stops watching the signal for it. Set by the live query. */
  unwatch: (() => void) | undefined
  /** There is a result; `patches` led to it, if the consumer knows the one before. */
  emitted(patches: readonly RowPatch[] | undefined): void
  failed(failure: Failure): void
  ended(failure: Failure, closed: boolean): void
  aborted(failure: Failure): void
}

/** What `stream` returns. It holds a shared stream as long as it has consumers. */
export class Live<V> implements LiveQuery<V>, Member {
  readonly #handle: Handle
  readonly #plan: StreamPlan
  #stream: SharedStream | undefined
  #consumers: Few<Consumer>
  #value: LiveValue<V>
  #lastStats: StreamStats | undefined

  constructor(handle: Handle, plan: StreamPlan) {
    this.#handle = handle
    this.#plan = plan
    this.#value = new LiveValue(plan.names)
  }

  subscribe(next: (value: V, info: Emission) => void, error?: (error: Error) => void): Unsubscribe {
    checkCallbacks(next, error)
    const subscriber = new Subscriber<V>(this, next, error)
    if (!this.signal?.aborted) this.join(subscriber)
    const unsubscribe = () => this.leave(subscriber)
    return Object.assign(unsubscribe, { [dispose]: unsubscribe })
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<V> {
    return new Iteration(new StreamStates<V>(this, { emitted: () => {}, take: () => this.current }))
  }

  changes(options: ChangesOptions<V>): AsyncIterableIterator<Patch<RowIn<V>>> {
    const key = checkKey(options)
    const { names, arrays } = this.#plan
    const impossible =
      names !== undefined ? 'a stream of several queries' : arrays ? 'rows as arrays' : undefined
    if (impossible !== undefined)
      throw typeError(`changes: not possible for ${impossible}`, 'RESQLITE_OPTION')
    return new Iteration(new StreamStates(this, new Changes(key))) as AsyncIterableIterator<Patch<never>>
  }

  get current(): V | undefined {
    const stream = this.#stream
    return stream === undefined || stream.version === 0 ? undefined : this.#value.of(stream)
  }

  get stats(): StreamStats {
    this.#lastStats = this.#stream?.stats ?? this.#lastStats
    return this.#lastStats === undefined ? noStats() : { ...this.#lastStats }
  }

  /** What is told with `current`. */
  get emission(): Emission | undefined {
    return this.#stream?.emission
  }

  /** The statement, where there is only one. */
  get sql(): string | undefined {
    const { names, queries } = this.#plan
    return names === undefined ? queries[0]?.sql : undefined
  }

  get signal(): AbortSignal | undefined {
    return this.#plan.signal
  }

  get stream(): SharedStream | undefined {
    return this.#stream
  }

  /** Adds a consumer, who gets what there is in a microtask. Throws when the database is closed. */
  join(consumer: Consumer): void {
    this.#handle.usable()
    const stream = this.#stream ?? this.#enter()
    const { signal } = this
    consumer.unwatch = signal && onAbort(signal, () => this.#abort(consumer, aborted(signal.reason)))
    this.#consumers = withMember(this.#consumers, consumer)
    if (stream.version === 0 && stream.failure === undefined) return
    consumer.late = true
    queueMicrotask(() => this.#catchUp(consumer))
  }

  /** Takes a consumer out: it is told nothing more. */
  leave(consumer: Consumer): void {
    if (!isAmong(this.#consumers, consumer)) return
    this.#remove(consumer)
    this.#exitIfUnused()
  }

  emitted(patches: readonly RowPatch[]): void {
    eachMember(this.#consumers, (consumer) => {
      const { late } = consumer
      consumer.late = false
      consumer.emitted(late ? undefined : patches)
    })
  }

  failed(failure: Failure): void {
    // Who joined late hears of it when it catches up.
    eachMember(this.#consumers, (consumer) => {
      if (!consumer.late) consumer.failed(failure)
    })
  }

  ended(failure: Failure, closed: boolean): void {
    this.#exit()
    eachMember(this.#consumers, (consumer) => {
      this.#remove(consumer)
      consumer.ended(failure, closed)
    })
    this.#exitIfUnused() // meanwhile one may have come and gone
  }

  #enter(): SharedStream {
    const stream = SharedStream.of(this.#handle, this.#plan)
    stream.join(this)
    this.#stream = stream
    this.#value = new LiveValue(this.#plan.names)
    return stream
  }

  #exitIfUnused(): void {
    if (sizeOf(this.#consumers) === 0) this.#exit()
  }

  #exit(): void {
    const stream = this.#stream
    if (stream === undefined) return
    this.#stream = undefined
    stream.leave(this)
    this.#lastStats = stream.stats ?? this.#lastStats
  }

  #remove(consumer: Consumer): void {
    consumer.unwatch?.()
    consumer.late = false
    this.#consumers = withoutMember(this.#consumers, consumer)
  }

  #abort(consumer: Consumer, failure: Failure): void {
    this.leave(consumer)
    consumer.aborted(failure)
  }

  #catchUp(consumer: Consumer): void {
    if (!consumer.late) return
    consumer.late = false
    const stream = this.#stream as SharedStream
    if (stream.version > 0) consumer.emitted(undefined)
    const { failure } = stream
    if (failure !== undefined && isAmong(this.#consumers, consumer)) consumer.failed(failure)
  }
}
