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
import { SharedQuery, type Subscriber } from './shared-query'
import { hasMember, type SmallSet, sizeOf, withMember, withoutMember } from './small-set'
import type { StreamPlan } from './stream-plan'
import type { Subscribable } from './subscribable'

/** Marks live queries. Registered, because another copy of this module, whose classes are others, asks for it. */
export const isLiveQuery: unique symbol = Symbol.for('resqlite.isLiveQuery') as never

/** The object that `stream` returns. It uses a {@link SharedQuery} for as long as it has subscribers. */
export class LiveQueryObject<V> implements LiveQuery<V>, Subscribable<V> {
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
    const { shared } = this
    return shared === undefined || shared.version === 0 ? undefined : this.#value.of(shared)
  }

  get stats(): StreamStats {
    this.#lastStats = this.#shared?.stats ?? this.#lastStats
    return this.#lastStats === undefined ? noStats() : { ...this.#lastStats }
  }

  get emission(): Emission | undefined {
    return this.shared?.emission
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
    return this.#shared?.isOver ? undefined : this.#shared
  }

  get [isLiveQuery](): true {
    return true
  }

  get [equality](): readonly unknown[] {
    return [this.#handle, this.#plan.key, this.signal]
  }

  join(subscriber: Subscriber): void {
    this.#handle.usable()
    const shared = this.shared ?? this.#enter()
    const { signal } = this
    subscriber.unwatch = signal && onAbort(signal, () => this.#abort(subscriber, abortFailure(signal.reason)))
    this.#subscribers = withMember(this.#subscribers, subscriber)
    shared.join(subscriber)
  }

  leave(subscriber: Subscriber): void {
    if (!hasMember(this.#subscribers, subscriber)) return
    subscriber.unwatch?.()
    this.#subscribers = withoutMember(this.#subscribers, subscriber)
    this.#shared?.leave(subscriber)
    if (sizeOf(this.#subscribers) === 0) this.#exit()
  }

  #enter(): SharedQuery {
    this.#exit()
    this.#shared = SharedQuery.of(this.#handle, this.#plan)
    this.#value = new LiveValue(this.#plan.names)
    return this.#shared
  }

  #exit(): void {
    this.#lastStats = this.#shared?.stats ?? this.#lastStats
    this.#shared = undefined
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
}
