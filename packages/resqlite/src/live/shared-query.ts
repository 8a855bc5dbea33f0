import type { Closeable, DatabaseHandle } from '../channel/database-handle'
import { ResqliteError } from '../core/errors'
import { Failure } from '../core/failure'
import type { Emission, StreamStats } from '../core/live-types'
import { checkNames } from '../core/query'
import { INTEGERS_MASK } from '../wire/protocol'
import { CatchUps } from './catch-ups'
import { LiveRequest } from './live-request'
import { traceLiveRun } from './live-trace'
import type { Mapping } from './mapping'
import { applyPatch, type RowPatch } from './patches'
import type { Columns } from './row-keys'
import { SharedResult } from './shared-result'
import { forEachMember, hasMember, type SmallSet, sizeOf, withMember, withoutMember } from './small-set'
import { openingFill, type StreamPlan } from './stream-plan'

/** A callback or an iterator that gets the values of a live query. */
export interface Subscriber {
  /** The subscriber joined when the live query had begun already, and has got no result yet. Set by the live query. */
  isLate: boolean
  /** Stops listening to the abort signal for the subscriber. Set by the live query. */
  unwatch: (() => void) | undefined
  /** Called when there is a result. `late`: the result is not new, but the subscriber was late. */
  emitted(late: boolean): void
  /** Called when the queries have failed; the live query continues. */
  failed(failure: Failure): void
  /** Called when the live query has ended. `closed`: it ended because the database was closed. */
  ended(failure: Failure, closed: boolean): void
  /** Called when the abort signal has fired. */
  aborted(failure: Failure): void
}

/** The result of one of the queries. */
export interface QueryRows {
  readonly rows: readonly unknown[]
  readonly columns: readonly string[]
  /** The version of the emission that brought this result. */
  readonly version: number
}

interface MutableRows extends QueryRows {
  rows: unknown[]
  columns: readonly string[]
  version: number
}

const NO_RESULTS: readonly MutableRows[] = []

/** The version that was given last. All live queries count with it, so no two values have the same version. */
let lastVersion = 0

/** The live queries in use of each database that has any, by the keys of their plans. */
const inUse = new Map<DatabaseHandle, Map<string, SharedQuery>>()

/** Returns the live queries in use of all databases of this realm that share an engine, the oldest of each first. */
export function sharedQueriesOf(engine: number): SharedQuery[] {
  const handles = [...inUse].filter(([handle]) => handle.engine === engine)
  return handles.flatMap(([, queries]) => [...queries.values()])
}

/**
 * A native live query, shared by all objects that `stream` returned for the same plan on one database. It ends when it has
 * no user left.
 *
 * A process may have 100,000 of these, and an emission touches one that is not in any cache any more. So each consists of few
 * objects: a set with one member is that member, and the result of the first query has a field of its own.
 */
export class SharedQuery extends LiveRequest implements Closeable {
  readonly #handle: DatabaseHandle
  readonly #plan: StreamPlan
  #subscribers: SmallSet<Subscriber>
  readonly #first = emptyResult()
  /** The results of the other queries; mostly there is only one query. */
  readonly #others: readonly MutableRows[]
  /** The results with keys, by their keys; undefined while nobody has asked for such a result. */
  #keyed: Map<string, SharedResult> | undefined
  #version = 0
  #emissions = 0
  #emission: Emission | undefined
  #failure: Failure | undefined
  #lastStats: StreamStats | undefined
  #isOver = false
  #catchUps: CatchUps | undefined
  /** The {@link Channel.flushes} before the request was handed over. */
  readonly #flushes: number

  private constructor(handle: DatabaseHandle, plan: StreamPlan) {
    super(plan.arrays)
    this.#handle = handle
    this.#plan = plan
    this.#flushes = handle.channel.flushes
    this.#others = plan.queries.length === 1 ? NO_RESULTS : plan.queries.slice(1).map(emptyResult)
  }

  get handle(): DatabaseHandle {
    return this.#handle
  }

  get endsLast(): boolean {
    return true
  }

  get plan(): StreamPlan {
    return this.#plan
  }

  /** Returns the live query of a plan, or a new one if none is in use. The caller must join it. */
  static of(handle: DatabaseHandle, plan: StreamPlan): SharedQuery {
    return inUse.get(handle.usable())?.get(plan.key) ?? SharedQuery.#open(handle, plan)
  }

  static #open(handle: DatabaseHandle, plan: StreamPlan): SharedQuery {
    const query = new SharedQuery(handle, plan)
    const { channel, flags, id } = handle
    channel.stream(flags & INTEGERS_MASK, id, openingFill(channel, plan), query)
    queriesOf(handle).set(plan.key, query)
    handle.add(query)
    return query
  }

  /** Returns the result of a query. The result must not be modified, and is valid until the next emission. */
  result(query: number): QueryRows {
    return query === 0 ? this.#first : (this.#others[query - 1] as QueryRows)
  }

  /**
   * Returns the result of the only query with a key, and with rows that a mapping makes. All who use it at once get the same
   * object. The caller must join it.
   */
  keyed(key: Columns, mapping?: Mapping): SharedResult {
    const id = JSON.stringify([key, mapping?.id])
    const keyed = this.#keyed ?? new Map<string, SharedResult>()
    this.#keyed = keyed
    const result = keyed.get(id) ?? new SharedResult(this, key, () => keyed.delete(id), mapping)
    keyed.set(id, result)
    return result
  }

  /** The version of the last emission; 0 before the first. It grows. */
  get version(): number {
    return this.#version
  }

  get emission(): Emission | undefined {
    return this.#emission
  }

  /** The failure of the last execution, if it failed. */
  get failure(): Failure | undefined {
    return this.#failure
  }

  /** The live query has ended, and nobody joins it any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  get stats(): StreamStats | undefined {
    if (!this.#isOver) this.#lastStats = this.#handle.channel.streamStats(this) ?? this.#lastStats
    return this.#lastStats
  }

  /**
   * Adds a subscriber. It gets the present result in a microtask, if that shows all that is committed. Otherwise it gets the
   * result as soon as it does.
   */
  join(subscriber: Subscriber): void {
    this.#subscribers = withMember(this.#subscribers, subscriber)
    if (this.#flushes === this.#handle.channel.flushes) return // the request has not been handed over
    subscriber.isLate = true
    queueMicrotask(() => this.#catchUp(subscriber))
  }

  /** Removes a subscriber, which is not called any more. */
  leave(subscriber: Subscriber): void {
    subscriber.isLate = false
    this.#subscribers = withoutMember(this.#subscribers, subscriber)
    if (sizeOf(this.#subscribers) === 0 && !this.#isOver) this.#finish()
  }

  emitted(emission: Emission, patches: RowPatch[]): void {
    if (this.#isClosing) return
    this.#version = ++lastVersion
    this.#emissions++
    for (const patch of patches) this.#apply(patch)
    if (this.#keyed !== undefined) for (const result of this.#keyed.values()) result.emitted(patches[0])
    this.#emission = emission
    this.#failure = undefined
    const { profile } = this.#handle.channel
    if (profile === undefined) this.#notify()
    else {
      const started = performance.now()
      this.#notify()
      profile.profileEmission(performance.now() - started)
    }
  }

  failed(failure: Failure, ended: boolean): void {
    if (this.#isClosing) return
    if (ended) this.#end(failure, false)
    else {
      this.#failure = failure
      this.#tell((subscriber) => subscriber.failed(failure))
    }
  }

  ranLong(micros: number, reason: Emission['reason']): void {
    if (!this.#isClosing) traceLiveRun(this.#handle, this.#plan.queries, micros, reason)
  }

  dropped(): void {
    const failure = new Failure(
      () => new ResqliteError('The native side ended the live query without an error', 'RESQLITE_WORKER'),
    )
    this.#end(failure, false)
  }

  /** Ends the live query, because the database is being closed. */
  interrupt(failure: Failure): void {
    this.#end(failure, true)
  }

  /** The database is being closed, so its users get no other message. Closing may take some turns of the event loop. */
  get #isClosing(): boolean {
    return !this.#handle.isOpen
  }

  #notify(): void {
    this.#tell((subscriber) => subscriber.emitted(false))
  }

  /** Calls `tell` for all subscribers except late ones, which get their message later. */
  #tell(tell: (subscriber: Subscriber) => void): void {
    forEachMember(this.#subscribers, (subscriber) => {
      if (!subscriber.isLate) tell(subscriber)
    })
  }

  /** Gives a late subscriber the result as soon as the result shows all that is committed. */
  async #catchUp(subscriber: Subscriber): Promise<void> {
    const { channel } = this.#handle
    if (subscriber.isLate && channel.caughtUpWith(this) !== this.#emissions) {
      this.#catchUps ??= new CatchUps(channel, this)
      await this.#catchUps.wait()
    }
    if (!subscriber.isLate || this.#isClosing) return
    subscriber.isLate = false
    if (this.#version > 0) subscriber.emitted(true)
    const failure = this.#failure
    if (failure !== undefined && hasMember(this.#subscribers, subscriber)) subscriber.failed(failure)
  }

  #apply(patch: RowPatch): void {
    if (this.#plan.queries[patch.query]?.distinct && !this.arrays) checkNames(patch.columns)
    const result = this.result(patch.query) as MutableRows
    result.rows = applyPatch(result.rows, patch)
    result.columns = patch.columns
    result.version = this.#version
  }

  #end(failure: Failure, closed: boolean): void {
    this.#finish()
    forEachMember(this.#subscribers, (subscriber) => {
      this.leave(subscriber)
      subscriber.ended(failure, closed)
    })
  }

  /** Ends this live query. No frame is handled any more, and the next user of the same plan gets a new live query. */
  #finish(): void {
    if (this.#isOver) return
    void this.stats // reads the counters a last time
    this.#isOver = true
    this.#handle.channel.unsubscribe(this)
    const queries = queriesOf(this.#handle)
    queries.delete(this.#plan.key)
    if (queries.size === 0) inUse.delete(this.#handle)
    this.#handle.remove(this)
  }
}

function queriesOf(handle: DatabaseHandle): Map<string, SharedQuery> {
  let queries = inUse.get(handle)
  if (queries === undefined) {
    queries = new Map()
    inUse.set(handle, queries)
  }
  return queries
}

function emptyResult(): MutableRows {
  return { rows: [], columns: [], version: 0 }
}
