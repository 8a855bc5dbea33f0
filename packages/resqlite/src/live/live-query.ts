import type { DatabaseHandle } from '../channel/database-handle'
import { onAbort } from '../core/abort'
import { checkKeyColumns, checkObserver, checkOptions } from '../core/checks'
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
import type { RowArray } from '../core/types'
import { noStats } from '../wire/stream-stats'
import { CallbackSubscriber } from './callback-subscriber'
import { IteratorSubscriber } from './iterator-subscriber'
import { LiveValue } from './live-value'
import type { Mapping } from './mapping'
import { ObservableQuery } from './observable'
import { encodedPatchesOf, patchesOf } from './patch-values'
import type { Columns } from './row-keys'
import { SharedQuery, type Subscriber } from './shared-query'
import { hasMember, type SmallSet, sizeOf, withMember, withoutMember } from './small-set'
import type { StreamPlan } from './stream-plan'
import type { Subscribable } from './subscribable'

/**
 * Marks live queries. The symbol is registered, because another copy of this module, which has other classes, asks for it.
 */
export const isLiveQuery: unique symbol = Symbol.for('resqlite.isLiveQuery') as never

/** The object that `stream` returns. It uses a {@link SharedQuery} for as long as it has subscribers. */
export class LiveQueryObject<V> implements LiveQuery<V>, Subscribable<V> {
  readonly #handle: DatabaseHandle
  readonly #plan: StreamPlan
  #shared: SharedQuery | undefined
  #subscribers: SmallSet<Subscriber>
  #value: LiveValue<V>
  #lastStats: StreamStats | undefined

  constructor(
    handle: DatabaseHandle,
    plan: StreamPlan,
    /** The mapping that makes the rows; undefined if the rows are those of SQLite. */
    readonly mapping?: Mapping<V>,
  ) {
    this.#handle = handle
    this.#plan = plan
    this.#value = new LiveValue(plan.names)
  }

  /** Returns the same live query with rows that a mapping makes. */
  mapped<W>(mapping: Mapping<W>): LiveQueryObject<W> {
    return new LiveQueryObject(this.#handle, this.#plan, mapping)
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
    const { mapping } = this
    const latest = new Iteration(new IteratorSubscriber<V>(this, () => ({ take: () => this.#latest })))
    // The mapping is not applied in `take`, because the value that it makes of no rows may be undefined.
    return mapping === undefined ? latest : latest.map((rows) => mapping.valueOf(rows as RowArray[]))
  }

  patches(options: PatchesOptions<V> & { rows: false }): LiveIterator<LeanPatch<RowOf<V>>>
  patches(options: PatchesOptions<V> & { rows: 'inPlace' }): LiveIterator<PatchInPlace<RowOf<V>>>
  patches(options: PatchesOptions<V>): LiveIterator<Patch<RowOf<V>>>
  patches(options: PatchesOptions<V>): LiveIterator<unknown> {
    checkOptions('patches', options ?? {})
    const { key, rows = true } = (options ?? {}) as PatchesOptions
    const columns = this.keyColumns('patches', key)
    const values = (shared: SharedQuery) => patchesOf(shared, columns, rows, this.mapping)
    return new Iteration(new IteratorSubscriber<unknown>(this, values))
  }

  patchesBytes(options: PatchesBytesOptions<V>): LiveIterator<EncodedPatch> {
    checkOptions('patchesBytes', options ?? {})
    const columns = this.keyColumns('patchesBytes', options?.key)
    const values = (shared: SharedQuery) => encodedPatchesOf(shared, columns, this.mapping)
    return new Iteration(new IteratorSubscriber(this, values))
  }

  /** Checks a key. Returns the columns of the key. */
  keyColumns(method: string, key: unknown): Columns {
    return this.mapping?.keyColumns(method, key) ?? checkKeyColumns(method, key, this.#plan)
  }

  get current(): V | undefined {
    const latest = this.#latest
    if (latest === undefined || this.mapping === undefined) return latest
    return this.mapping.valueOf(latest as readonly RowArray[])
  }

  /** The latest value, before a mapping makes the rows. */
  get #latest(): V | undefined {
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
    return [this.#handle, this.#plan.key, this.signal, this.mapping?.id]
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

  /** Adds a subscriber although the signal has fired already. The subscription ends as soon as the caller has it. */
  #joinAborted(subscriber: Subscriber): void {
    this.#subscribers = withMember(this.#subscribers, subscriber)
    queueMicrotask(() => {
      if (hasMember(this.#subscribers, subscriber)) this.#abort(subscriber, abortFailure(this.signal?.reason))
    })
  }
}
