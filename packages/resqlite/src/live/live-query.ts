import type { DatabaseHandle } from '../channel/database-handle'
import { onAbort } from '../core/abort'
import { checkObserver, checkPatches } from '../core/checks'
import { dispose } from '../core/dispose'
import { equality } from '../core/equality'
import { abortFailure, type Failure } from '../core/failure'
import { Iteration } from '../core/iteration'
import type {
  CodedError,
  Emission,
  EncodedPatch,
  LeanPatch,
  LiveIterator,
  LiveObservable,
  LiveObserver,
  LiveQuery,
  Patch,
  PatchesBytesOptions,
  PatchesOptions,
  PatchInPlace,
  RowOf,
  StreamStats,
  Unsubscribe,
} from '../core/live-types'
import { observable } from '../core/observable'
import { noStats } from '../wire/stream-stats'
import { CallbackSubscriber } from './callback-subscriber'
import { IteratorSubscriber } from './iterator-subscriber'
import { LiveValue } from './live-value'
import { ObservableQuery } from './observable'
import { encodedPatchesOf, patchesOf } from './patch-values'
import { SharedQuery, type SharedQueryUser } from './shared-query'
import { forEachMember, hasMember, type SmallSet, sizeOf, withMember, withoutMember } from './small-set'
import type { StreamPlan } from './stream-plan'
import type { Subscribable, Subscriber } from './subscriber'

/** Marks live queries. Registered, because another copy of this module, whose classes are others, asks for it. */
export const isLiveQuery: unique symbol = Symbol.for('resqlite.isLiveQuery') as never

/** The object that `stream` returns. It uses a {@link SharedQuery} for as long as it has subscribers. */
export class LiveQueryObject<V> implements LiveQuery<V>, Subscribable<V>, SharedQueryUser {
  readonly #handle: DatabaseHandle
  readonly #plan: StreamPlan
  #shared: SharedQuery | undefined
  #subscribers: SmallSet<Subscriber>
  #value: LiveValue<V>
  #lastStats: StreamStats | undefined

  constructor(handle: DatabaseHandle, plan: StreamPlan) {
    this.#handle = handle
    this.#plan = plan
    this.#value = new LiveValue(plan.names)
  }

  subscribe(
    first: LiveObserver<V> | ((value: V, info: Emission) => void),
    error?: (error: CodedError) => void,
  ): Unsubscribe {
    const observer = checkObserver<V>(first, error)
    const subscriber = new CallbackSubscriber<V>(this, observer, this.subscribe)
    if (this.signal?.aborted) this.#joinAborted(subscriber)
    else this.join(subscriber)
    const unsubscribe = () => this.leave(subscriber)
    return Object.assign(unsubscribe, { unsubscribe, [dispose]: unsubscribe })
  }

  [observable](): LiveObservable<V> {
    return new ObservableQuery(this)
  }

  [Symbol.asyncIterator](): LiveIterator<V> {
    return this.values()
  }

  values(): LiveIterator<V> {
    return new Iteration(new IteratorSubscriber<V>(this, () => ({ take: () => this.current })))
  }

  patches(options: PatchesOptions<V> & { rows: false }): LiveIterator<LeanPatch<RowOf<V>>>
  patches(options: PatchesOptions<V> & { rows: 'inPlace' }): LiveIterator<PatchInPlace<RowOf<V>>>
  patches(options: PatchesOptions<V>): LiveIterator<Patch<RowOf<V>>>
  patches(options: PatchesOptions<V>): LiveIterator<unknown> {
    const { key, rows } = checkPatches('patches', options, this.#plan)
    return new Iteration(new IteratorSubscriber<unknown>(this, (shared) => patchesOf(shared, key, rows)))
  }

  patchesBytes(options: PatchesBytesOptions<V>): LiveIterator<EncodedPatch> {
    const { key } = checkPatches('patchesBytes', options, this.#plan)
    return new Iteration(new IteratorSubscriber(this, (shared) => encodedPatchesOf(shared, key)))
  }

  get current(): V | undefined {
    const shared = this.#shared
    return shared === undefined || shared.version === 0 ? undefined : this.#value.of(shared)
  }

  get stats(): StreamStats {
    this.#lastStats = this.#shared?.stats ?? this.#lastStats
    return this.#lastStats === undefined ? noStats() : { ...this.#lastStats }
  }

  get emission(): Emission | undefined {
    return this.#shared?.emission
  }

  get sql(): string | undefined {
    const { names, queries } = this.#plan
    return names === undefined ? queries[0]?.sql : undefined
  }

  get signal(): AbortSignal | undefined {
    return this.#plan.signal
  }

  get plan(): StreamPlan {
    return this.#plan
  }

  get shared(): SharedQuery | undefined {
    return this.#shared
  }

  get [isLiveQuery](): true {
    return true
  }

  get [equality](): readonly unknown[] {
    return [this.#handle, this.#plan.key, this.signal]
  }

  join(subscriber: Subscriber): void {
    this.#handle.usable()
    const shared = this.#shared ?? this.#enter()
    const { signal } = this
    subscriber.unwatch = signal && onAbort(signal, () => this.#abort(subscriber, abortFailure(signal.reason)))
    this.#subscribers = withMember(this.#subscribers, subscriber)
    if (shared.isNew) return
    subscriber.isLate = true
    queueMicrotask(() => this.#catchUp(subscriber))
  }

  leave(subscriber: Subscriber): void {
    if (!hasMember(this.#subscribers, subscriber)) return
    this.#remove(subscriber)
    this.#exitIfUnused()
  }

  emitted(): void {
    forEachMember(this.#subscribers, (subscriber) => {
      if (!subscriber.isLate) subscriber.emitted(false)
    })
  }

  failed(failure: Failure): void {
    forEachMember(this.#subscribers, (subscriber) => {
      if (!subscriber.isLate) subscriber.failed(failure)
    })
  }

  ended(failure: Failure, closed: boolean): void {
    this.#exit()
    forEachMember(this.#subscribers, (subscriber) => {
      this.#remove(subscriber)
      subscriber.ended(failure, closed)
    })
    this.#exitIfUnused() // a callback may have subscribed and unsubscribed
  }

  #enter(): SharedQuery {
    const shared = SharedQuery.of(this.#handle, this.#plan)
    shared.join(this)
    this.#shared = shared
    this.#value = new LiveValue(this.#plan.names)
    return shared
  }

  #exitIfUnused(): void {
    if (sizeOf(this.#subscribers) === 0) this.#exit()
  }

  #exit(): void {
    const shared = this.#shared
    if (shared === undefined) return
    this.#shared = undefined
    shared.leave(this)
    this.#lastStats = shared.stats ?? this.#lastStats
  }

  #remove(subscriber: Subscriber): void {
    subscriber.unwatch?.()
    subscriber.isLate = false
    this.#subscribers = withoutMember(this.#subscribers, subscriber)
  }

  #abort(subscriber: Subscriber, failure: Failure): void {
    this.leave(subscriber)
    subscriber.aborted(failure)
  }

  /** The signal has fired already: the subscription ends as soon as the caller has it. */
  #joinAborted(subscriber: Subscriber): void {
    this.#subscribers = withMember(this.#subscribers, subscriber)
    queueMicrotask(() => {
      if (hasMember(this.#subscribers, subscriber)) this.#abort(subscriber, abortFailure(this.signal?.reason))
    })
  }

  /** Gives a late subscriber the result as soon as that shows all that is committed. */
  async #catchUp(subscriber: Subscriber): Promise<void> {
    if (subscriber.isLate && !this.#shared?.isCaughtUp) await this.#shared?.caughtUp()
    if (subscriber.isLate) this.#giveResult(subscriber)
  }

  #giveResult(subscriber: Subscriber): void {
    if (!this.#handle.isOpen) return
    subscriber.isLate = false
    const shared = this.#shared as SharedQuery
    if (shared.version > 0) subscriber.emitted(true)
    const { failure } = shared
    if (failure !== undefined && hasMember(this.#subscribers, subscriber)) subscriber.failed(failure)
  }
}
